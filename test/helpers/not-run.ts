import type { Reporter, TestCase, TestModule } from 'vitest/node';
import './debian.ts';

/**
 * Ends the output of a test run with the tests that could not run on this machine: how many, in which files and
 * why. In CI (CI=true) the run fails if a program was missing that CI is expected to install.
 */
export class NotRunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = new Map<string, number>();
    let programMissing = false;
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const reason = reasonOf(test);
        if (reason === undefined) continue;
        const line = `${module.relativeModuleId}: ${reason}`;
        lines.set(line, (lines.get(line) ?? 0) + 1);
        programMissing ||= test.meta().notRun !== undefined;
      }
    }
    if (lines.size === 0) return;
    const total = [...lines.values()].reduce((sum, count) => sum + count, 0);
    console.log(`Not run on this machine: ${count(total)}.`);
    for (const [line, tests] of lines) console.log(`  ${count(tests)} of ${line}`);
    if (programMissing && process.env.CI === 'true') {
      console.log('This is a failure because CI=true.');
      process.exitCode = 1;
    }
  }
}

function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return test.meta().notRun ?? (result.state === 'skipped' ? result.note : undefined);
}

const count = (tests: number) => `${tests} ${tests === 1 ? 'test' : 'tests'}`;

import type { Reporter, TestModule } from 'vitest/node';
import type {} from './file-cost.ts';

const LISTED = 10;

/** Ends the output of a run with the files that used most processor time, apart from the PostgreSQL of the run. */
export class CostlyFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const costs = modules.map(module => ({
      file: module.relativeModuleId,
      seconds: module.meta().processorSeconds ?? 0,
    }));
    costs.sort((first, second) => second.seconds - first.seconds);
    const lines = costs
      .slice(0, LISTED)
      .map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}`);
    console.log(`Most processor time, of ${costs.length} files:\n${lines.join('\n')}\n`);
  }
}

import { describeInForce } from '../platform/settings/in-force.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Every setting that has a value, with secrets masked, and whether the environment gave it. */
export function settingsInForce(
  settings: Settings,
  environment: Record<string, string | undefined>,
): { name: string; value: string; given: boolean }[] {
  return describeInForce(settings).flatMap(({ name, value }) =>
    value === undefined ? [] : [{ name, value, given: (environment[name] ?? '') !== '' }],
  );
}

/**
 * @param warnings of the start about the settings
 */
export function checkSettings(
  settings: Settings,
  environment: Record<string, string | undefined>,
  warnings: readonly string[],
): Finding[] {
  const chosen = settingsInForce(settings, environment).filter(setting => setting.given);
  const summary = {
    ...ok('settings', `${chosen.length} set, the others have their defaults (docs/settings.md)`),
    details: chosen.map(({ name, value }) => `${name}=${value}`),
  };
  return [summary, ...warnings.map(text => warning('settings', text, 'docs/settings.md'))];
}

import { Settings } from './settings.ts';
import { shownValue } from './settings-text.ts';

/** A setting that has a value. */
export interface SettingInForce {
  name: string;
  /** with secrets masked */
  value: string;
  /** whether it differs from the default, or has none */
  changed: boolean;
  description: string;
}

/** Every setting that has a value, with secrets masked. */
export function describeInForce(settings: Settings): SettingInForce[] {
  const described = Object.entries(Settings.properties) as [
    keyof Settings,
    { description?: string; default?: unknown },
  ][];
  return described
    .filter(([name]) => settings[name] !== undefined)
    .map(([name, { description = '', default: fallback }]) => ({
      name,
      value: shownValue(name, settings[name]),
      changed: settings[name] !== fallback,
      description,
    }));
}

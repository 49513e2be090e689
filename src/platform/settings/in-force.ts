import { GROUP_OF, type SettingGroup } from './groups.ts';
import { Settings } from './settings.ts';
import { shownValue } from './text.ts';

export interface SettingInForce {
  name: string;
  /** with secrets masked; absent if it is not set and has no default */
  value?: string;
  /** absent if it has none */
  default?: string;
  /** whether it is set to something other than the default */
  changed: boolean;
  group: SettingGroup;
  description: string;
}

/** Every setting with its value, secrets masked. */
export function describeInForce(settings: Settings): SettingInForce[] {
  const described = Object.entries(Settings.properties) as [
    keyof Settings,
    { description?: string; default?: unknown },
  ][];
  return described.map(([name, { description = '', default: fallback }]) => ({
    name,
    ...(settings[name] !== undefined && { value: shownValue(name, settings[name]) }),
    ...(fallback !== undefined && { default: String(fallback) }),
    changed: settings[name] !== fallback,
    group: GROUP_OF[name],
    description,
  }));
}

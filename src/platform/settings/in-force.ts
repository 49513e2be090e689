import { GROUPS, type Settings } from './settings.ts';
import { shownValue } from './text.ts';

export type SettingGroup = keyof typeof GROUPS;

export interface SettingInForce {
  name: keyof Settings;
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
  return (Object.keys(GROUPS) as SettingGroup[]).flatMap(group => {
    const described = Object.entries(GROUPS[group]) as [
      keyof Settings,
      { description?: string; default?: unknown },
    ][];
    return described.map(([name, { description = '', default: fallback }]) => ({
      name,
      ...(settings[name] !== undefined && { value: shownValue(name, settings[name]) }),
      ...(fallback !== undefined && { default: String(fallback) }),
      changed: settings[name] !== fallback,
      group,
      description,
    }));
  });
}

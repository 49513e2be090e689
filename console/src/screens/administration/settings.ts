/** A setting of the services, as the trace backend describes it. */
export interface Setting {
  name: string;
  /** absent if it is not set and has no default */
  value?: string | undefined;
  default?: string | undefined;
  /** whether it is set to something other than the default */
  changed: boolean;
  group: string;
  description: string;
}

/** Whether a setting is set, has its default, or has no value. */
export function stateOf({ value, changed }: Setting): 'set' | 'default' | 'none' {
  if (value === undefined) return 'none';
  return changed ? 'set' : 'default';
}

/**
 * The settings by what they are about, without groups that are empty.
 *
 * @param wanted part of the name, in upper or lower case
 * @param onlySet without those that have their default or no value
 */
export function groupsOf(
  settings: readonly Setting[],
  wanted: string,
  onlySet: boolean,
): [group: string, settings: Setting[]][] {
  const part = wanted.trim().toUpperCase();
  const shown = settings.filter(
    setting => setting.name.includes(part) && (!onlySet || stateOf(setting) === 'set'),
  );
  return [...Map.groupBy(shown, ({ group }) => group)];
}

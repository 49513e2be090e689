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

export const STATES = ['set', 'default', 'none'] as const;

/** Whether a setting is set, has its default, or has no value. */
export function stateOf({ value, changed }: Setting): (typeof STATES)[number] {
  if (value === undefined) return 'none';
  return changed ? 'set' : 'default';
}

/**
 * The settings by what they are about, without groups that are empty.
 *
 * @param wanted part of the name, in upper or lower case
 * @param state that of those that are wanted; all if it is empty
 */
export function groupsOf(
  settings: readonly Setting[],
  wanted: string,
  state: string,
): [group: string, settings: Setting[]][] {
  const part = wanted.trim().toUpperCase();
  const shown = settings.filter(
    setting => setting.name.includes(part) && (state === '' || stateOf(setting) === state),
  );
  return [...Map.groupBy(shown, ({ group }) => group)];
}

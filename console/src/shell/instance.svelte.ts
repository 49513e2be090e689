/** The name of the instance, which an administrator chooses. */
let name = $state<string | undefined>(undefined);

/** The global setting of the trace backend with the name. */
export const NAME_SETTING = 'INSTANCE_NAME';

export function instanceName(): string {
  return name ?? 'fieldtrace';
}

/** Whether an administrator has chosen a name. */
export function isNamed(): boolean {
  return name !== undefined;
}

export function setInstanceName(chosen: string): void {
  name = chosen;
}

/** Reads the name; without an answer it stays as it is. */
export async function loadInstanceName(): Promise<void> {
  const answer = await fetch(`/trace/api/public/globalSettings/${NAME_SETTING}`).catch(() => undefined);
  if (!answer?.ok) return;
  const { data } = (await answer.json()) as { data: { value?: string } };
  if (data.value) name = data.value;
}

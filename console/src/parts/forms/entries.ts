type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** What is typed and chosen in a form, to be compared; what is empty does not count. */
export function entriesOf(form: HTMLFormElement): string {
  const controls = [...(form.elements as unknown as Iterable<Control>)];
  return JSON.stringify(controls.map(entryOf).filter(([, value]) => value));
}

/** How many texts and choices of a form differ between two times. */
export function changesBetween(before: string, after: string): number {
  const [old, now] = [before, after].map(
    text => new Set((JSON.parse(text) as unknown[]).map(one => JSON.stringify(one))),
  );
  const names = new Set<string>();
  for (const one of [...(old ?? [])].filter(entry => !now?.has(entry))) names.add(JSON.parse(one)[0]);
  for (const one of [...(now ?? [])].filter(entry => !old?.has(entry))) names.add(JSON.parse(one)[0]);
  return names.size;
}

function entryOf(control: Control): readonly [name: string, value: string | boolean | undefined] {
  const { name, type, value } = control;
  const isCheck = type === 'checkbox' || type === 'radio';
  return [name, isCheck ? (control as HTMLInputElement).checked && (value || true) : value];
}

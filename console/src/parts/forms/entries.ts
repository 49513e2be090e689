/** An input, a select or a textarea. */
interface Control {
  name: string;
  type: string;
  value: string;
  /** of check boxes and radio buttons */
  checked?: boolean;
}

/** The entries of a form, for comparison; empty ones do not count. */
export function entriesOf(form: { elements: object }): string {
  const controls = [...(form.elements as Iterable<Control>)];
  return JSON.stringify(controls.map(entryOf).filter(([, value]) => value));
}

/** How many texts and choices of a form differ between two times. */
export function changesBetween(before: string, after: string): number {
  const [old, now] = [before, after].map(
    text => new Set((JSON.parse(text) as unknown[]).map(entry => JSON.stringify(entry))),
  );
  const names = new Set<string>();
  for (const entry of [...(old ?? [])].filter(each => !now?.has(each))) names.add(JSON.parse(entry)[0]);
  for (const entry of [...(now ?? [])].filter(each => !old?.has(each))) names.add(JSON.parse(entry)[0]);
  return names.size;
}

function entryOf(control: Control): readonly [name: string, value: string | boolean | undefined] {
  const { name, type, value } = control;
  const isCheck = type === 'checkbox' || type === 'radio';
  return [name, isCheck ? control.checked && (value || true) : value];
}

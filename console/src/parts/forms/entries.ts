type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** What is typed and chosen in a form, to be compared; what is empty does not count. */
export function entriesOf(form: HTMLFormElement): string {
  const controls = [...(form.elements as unknown as Iterable<Control>)];
  return JSON.stringify(controls.map(entryOf).filter(([, value]) => value));
}

function entryOf(control: Control): readonly [name: string, value: string | boolean | undefined] {
  const { name, type, value } = control;
  const isCheck = type === 'checkbox' || type === 'radio';
  return [name, isCheck ? (control as HTMLInputElement).checked && (value || true) : value];
}

import { getContext, setContext, untrack } from 'svelte';
import type { BilingualText } from '../loading/failure-message.ts';

/** A part of a form that its contents list. */
export interface Section {
  element: HTMLElement;
  title: string;
}

/** The data that a form and its fields share. */
export interface FormContext {
  /** The error of a field, if it has one. */
  errorOf(name: string): BilingualText | undefined;
  /** Adds a field to the form; returns a function that removes it. */
  add(name: string): () => void;
  /** Adds a section to the contents beside the form; returns a function that removes it. */
  addSection(section: Section): () => void;
  /** Reports that the value of a field has changed: its error disappears. */
  changed(name: string): void;
  /** Reports that the user has changed the form other than by typing or choosing. */
  touch(): void;
  /** The form is sent only when this upload has ended, and only if it has succeeded. */
  waitFor(upload: Promise<boolean>): void;
  /** Does something each time before the form is sent; returns what undoes it. */
  beforeSending(act: () => void): () => void;
}

const KEY = Symbol('form');

export function shareForm(form: FormContext): void {
  setContext(KEY, form);
}

/** The form around a field; undefined outside of one. */
export function formAround(): FormContext | undefined {
  return getContext<FormContext | undefined>(KEY);
}

/**
 * Reports each change of a field's value to the form around it, by the user or by the program.
 *
 * @param read the name of the field and its value
 */
export function reportChanges(read: () => readonly [name: string, value: unknown]): void {
  const form = formAround();
  let before: unknown;
  let isFirst = true;
  $effect(() => {
    const [name, value] = read();
    const isChange = !isFirst && value !== before;
    before = value;
    isFirst = false;
    if (isChange) untrack(() => form?.changed(name));
  });
}

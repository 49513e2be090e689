import { getContext, setContext } from 'svelte';
import type { Told } from '../loading/failure-text.ts';

/** What a form and its fields know of each other. */
export interface FormContext {
  /** The error of a field, if it has one. */
  errorOf(name: string): Told | undefined;
  /** Tells the form that it has a field of this name; returns what undoes it. */
  add(name: string): () => void;
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

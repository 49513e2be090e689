import type { Component } from 'svelte';

/** A screen and its address. */
export interface Route {
  /** such as /packets/:id; the screen gets `id` as a property */
  path: string;
  /** key of the message that is the title of the document and of the navigation */
  title: string;
  // biome-ignore lint/suspicious/noExplicitAny: each screen has its own properties, the parameters of its path
  screen: () => Promise<{ default: Component<any> }>;
  /** its place in the navigation, if it is there */
  navigation?: {
    group: 'start' | 'field' | 'chain' | 'administration' | 'own';
    order: number;
    icon: string;
    /** how much is new there, and the key of the message that says so */
    news?: { count: () => number; text: string };
  };
  /** the address of the item of the navigation that it is below, if its own address does not say so */
  below?: string;
  /** who sees it; everyone who is logged in if it is absent */
  for?: 'administrator' | 'regional-administrator';
}

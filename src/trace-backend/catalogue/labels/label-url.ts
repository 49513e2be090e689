import type { Label } from '../products/labels/store.ts';

/** The path of published labels, each at its uuid. */
export const PUBLIC_PATH = '/api/public/product/label';

/** The URL of a label's page, which its code contains even before the label is published. */
export function labelUrl(publicUrl: string, { uuid }: Pick<Label, 'uuid'>): string {
  return `${publicUrl}${PUBLIC_PATH}/${uuid}`;
}

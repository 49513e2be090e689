import { session } from '../../api/session.svelte.ts';

/** Whether the user may change a product: its owner's members, its creator if it has no owner, and administrators. */
export function mayChange({ company }: { company?: { id: number } | undefined }): boolean {
  return (
    session.isAdministrator || company === undefined || session.user?.companyIds.includes(company.id) === true
  );
}

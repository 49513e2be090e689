import { answered, trace } from '../../api/services.ts';

/** A company with its version, for a change of what was read. */
export async function loadCompany(id: string, signal?: AbortSignal) {
  const call = trace.GET('/api/company/profile/{id}', {
    params: { path: { id } },
    ...(signal && { signal }),
  });
  const { data: company } = await answered(call);
  return { company, version: (await call).response.headers.get('etag') ?? '' };
}

/** Changes the users of a company, or its state. */
export async function execute(
  action:
    | 'ACTIVATE_COMPANY'
    | 'DEACTIVATE_COMPANY'
    | 'MERGE_TO_COMPANY'
    | 'ADD_USER_TO_COMPANY'
    | 'SET_USER_COMPANY_ROLE'
    | 'REMOVE_USER_FROM_COMPANY',
  body: {
    companyId: number;
    userId?: number;
    email?: string;
    companyUserRole?: Role;
    otherCompanyId?: number;
  },
): Promise<void> {
  await answered(trace.POST('/api/company/execute/{action}', { params: { path: { action } }, body }));
}

/** The roles that can be assigned in a company. */
export const ROLES = ['COMPANY_USER', 'COMPANY_ADMIN'] as const;
/** A role; the last two may do what members may, and are not offered until they may do more. */
export type Role = (typeof ROLES)[number] | 'MANAGER' | 'ACCOUNTANT';

/** The roles that can be assigned to a member, and their current one. */
export function rolesFor(own: Role): Role[] {
  return [...new Set([...ROLES, own])];
}

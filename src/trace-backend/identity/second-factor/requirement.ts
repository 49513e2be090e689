import type { Settings } from '../../../platform/settings/settings.ts';
import type { AuthenticatedSession } from '../../base/access/authentication.ts';
import type { Role } from '../../base/access/role.ts';

/** Which roles must log in with a second factor. */
export interface Requirement {
  needs(role: Role): boolean;
  /** Whether a session must prove a second factor before it may do anything else. */
  isUnmet(session: Pick<AuthenticatedSession, 'role' | 'secondFactor'>): boolean;
}

export function secondFactorRequirement({
  SECOND_FACTOR_REQUIRED,
}: Pick<Settings, 'SECOND_FACTOR_REQUIRED'>): Requirement {
  const roles = new Set(SECOND_FACTOR_REQUIRED?.split(','));
  const needs = (role: Role) => roles.has(role);
  return { needs, isUnmet: ({ role, secondFactor }) => needs(role) && !secondFactor };
}

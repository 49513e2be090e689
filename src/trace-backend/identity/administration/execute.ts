import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Requester } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { forgetFactor } from '../factor-setup/setup.ts';
import type { Mails } from '../mails/mails.ts';
import { noteConfirmed } from '../self-service/account.ts';
import { type Endings, endSessions } from '../sessions/endings.ts';
import { lockAccount, lockSystemAdmins, type User, type UserChange, updateUser } from '../users/store.ts';
import type { Action } from './schemas.ts';

/**
 * Performs an action on a user. It succeeds without a change if the user is already in that state.
 *
 * @throws Problem forbidden, not_found, invalid
 */
export async function execute(
  { pool, mails, endings }: { pool: pg.Pool; mails: Mails; endings: Endings },
  requester: Requester,
  action: Action,
  id: number,
): Promise<User> {
  const caller = requester.caller;
  const user = await transaction(pool, async database => {
    // Always in this order, so that two administrators who act on each other do not deadlock.
    const admins = await lockSystemAdmins(database);
    const before = await lockAccount(database, id);
    mayExecute(caller, action, before);
    if (!before) throw new Problem('user.unknown');
    if (action === 'REMOVE_USER_SECOND_FACTOR') return removeSecondFactor(database, mails, requester, before);
    if (action === 'CONFIRM_USER_EMAIL') {
      return noteConfirmed(database, mails, requester, before, { userId: caller.id, byOwner: false });
    }
    const change = changeOf(action, before);
    if (!change) return before;
    const isLast = admins.length === 1 && admins[0]?.id === id;
    if (isLast) throw new Problem('user.last_system_admin');
    const user = await updateUser(database, id, change);
    if (action === 'DEACTIVATE_USER') await endSessions(database, id, { resets: true });
    if (action === 'ACTIVATE_USER') await mails.send(database, [{ kind: 'activated', to: id }]);
    const details = { status: [before.status, user.status], role: [before.role, user.role] };
    await audit(database, requester, { action, entity: 'user', entityId: id, details });
    return user;
  });
  if (action === 'DEACTIVATE_USER' || action === 'REMOVE_USER_SECOND_FACTOR') endings.notify(id);
  mails.wake();
  return user;
}

function mayExecute({ id, role }: Caller, action: Action, user: User | undefined): void {
  if (role !== 'SYSTEM_ADMIN' && (action.endsWith('_ADMIN') || action === 'REMOVE_USER_SECOND_FACTOR')) {
    throw new Problem('user.action_for_system_admin', { action });
  }
  mayAct({ id, role }, user);
}

/**
 * Checks that an administrator may act on a user.
 *
 * @throws Problem forbidden; invalid for the administrator's own account and for an erased one
 */
export function mayAct({ id, role }: Pick<Caller, 'id' | 'role'>, user: User | undefined): void {
  if (role !== 'SYSTEM_ADMIN' && user?.role === 'SYSTEM_ADMIN') {
    throw new Problem('user.only_other_system_admin_changes');
  }
  if (user?.erased) throw new Problem('user.erased');
  if (user?.id === id) throw new Problem('user.is_yourself');
}

/** Removes the second factor of users who have lost their device and codes: they get a mail and must log in again. */
async function removeSecondFactor(
  database: Database,
  mails: Mails,
  requester: Requester,
  user: User,
): Promise<User> {
  if (!(await forgetFactor(database, mails, user.id))) return user;
  await endSessions(database, user.id, { resets: false });
  const event: AuditEvent = { action: 'REMOVE_USER_SECOND_FACTOR', entity: 'user', entityId: user.id };
  await audit(database, requester, event);
  return user;
}

/** @returns undefined when there is nothing to change */
function changeOf(
  action: Exclude<Action, 'CONFIRM_USER_EMAIL' | 'REMOVE_USER_SECOND_FACTOR'>,
  user: User,
): UserChange | undefined {
  const { status, role } = user;
  switch (action) {
    case 'ACTIVATE_USER':
      return status === 'ACTIVE' ? undefined : { status: 'ACTIVE' };
    case 'DEACTIVATE_USER':
      return status === 'DEACTIVATED' ? undefined : { status: 'DEACTIVATED' };
    case 'SET_USER_REGIONAL_ADMIN':
      if (role === 'SYSTEM_ADMIN') throw new Problem('user.already_system_admin');
      return role === 'REGIONAL_ADMIN' ? undefined : { role: 'REGIONAL_ADMIN' };
    case 'UNSET_USER_REGIONAL_ADMIN':
      return role === 'REGIONAL_ADMIN' ? { role: 'USER' } : undefined;
    case 'SET_USER_SYSTEM_ADMIN':
      return role === 'SYSTEM_ADMIN' ? undefined : { role: 'SYSTEM_ADMIN' };
    case 'UNSET_USER_SYSTEM_ADMIN':
      return role === 'SYSTEM_ADMIN' ? { role: 'USER' } : undefined;
  }
}

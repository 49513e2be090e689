export const STATUSES = ['UNCONFIRMED', 'CONFIRMED_EMAIL', 'ACTIVE', 'DEACTIVATED'] as const;
export const ROLES = ['USER', 'REGIONAL_ADMIN', 'SYSTEM_ADMIN'] as const;

export type Action =
  | 'ACTIVATE_USER'
  | 'DEACTIVATE_USER'
  | 'CONFIRM_USER_EMAIL'
  | 'SET_USER_REGIONAL_ADMIN'
  | 'UNSET_USER_REGIONAL_ADMIN'
  | 'SET_USER_SYSTEM_ADMIN'
  | 'UNSET_USER_SYSTEM_ADMIN'
  | 'REMOVE_USER_SECOND_FACTOR';

/**
 * What gives the user a link: by mail, for the confirmation or a new password, or through the administrator, who copies
 * it where no mails are sent.
 */
export type LinkAction = 'RESEND' | 'SEND_LINK' | 'COPY_LINK';

interface User {
  id: number;
  status: (typeof STATUSES)[number];
  role: (typeof ROLES)[number];
  /** true if the account is erased: nothing can be done with it */
  erased?: boolean | undefined;
}

/**
 * What an administrator can do with a user; the service decides whether it may be done.
 *
 * @param can hasSecondFactor: whether the user has one, which can then be removed; emailConfirmed: whether the owner of
 * the address has confirmed it; sendsMails: whether the installation sends email
 */
export function actionsFor(
  { id, status, role, erased }: User,
  administrator: Pick<User, 'id' | 'role'>,
  {
    hasSecondFactor,
    emailConfirmed,
    sendsMails,
  }: { hasSecondFactor: boolean; emailConfirmed: boolean; sendsMails: boolean },
): (Action | LinkAction)[] {
  const isSystem = administrator.role === 'SYSTEM_ADMIN';
  if (erased || id === administrator.id || (role === 'SYSTEM_ADMIN' && !isSystem)) return [];
  const actions: (Action | LinkAction)[] = [];
  if (!emailConfirmed && status !== 'DEACTIVATED') actions.push(sendsMails ? 'RESEND' : 'COPY_LINK');
  if (status === 'UNCONFIRMED') actions.push('CONFIRM_USER_EMAIL');
  if (status === 'ACTIVE' && sendsMails) actions.push('SEND_LINK');
  actions.push(status === 'ACTIVE' ? 'DEACTIVATE_USER' : 'ACTIVATE_USER');
  if (!isSystem) return actions;
  if (role === 'USER') actions.push('SET_USER_REGIONAL_ADMIN', 'SET_USER_SYSTEM_ADMIN');
  if (role === 'REGIONAL_ADMIN') actions.push('UNSET_USER_REGIONAL_ADMIN', 'SET_USER_SYSTEM_ADMIN');
  if (role === 'SYSTEM_ADMIN') actions.push('UNSET_USER_SYSTEM_ADMIN');
  if (hasSecondFactor) actions.push('REMOVE_USER_SECOND_FACTOR');
  return actions;
}

/**
 * Whether an action is asked about before: what changes a role or locks somebody out is not done by a slip, and who
 * activates a user without a confirmed address vouches for it.
 */
export function needsConfirmation(
  action: Action | LinkAction,
  { status }: Pick<User, 'status'>,
): action is Action {
  if (action === 'ACTIVATE_USER') return status === 'UNCONFIRMED';
  return action.endsWith('_ADMIN') || action === 'REMOVE_USER_SECOND_FACTOR' || action === 'DEACTIVATE_USER';
}

/** The name of an action in messages: activating an unconfirmed user also confirms the address. */
export function wordsOf(action: Action | LinkAction, { status }: Pick<User, 'status'>): string {
  return action === 'ACTIVATE_USER' && status === 'UNCONFIRMED' ? 'ACTIVATE_UNCONFIRMED' : action;
}

/** The action that is next for a user, if one is: an address is confirmed, then the account is activated. */
export function nextAction(
  { status }: Pick<User, 'status'>,
  { sendsMails }: { sendsMails: boolean },
): Action | LinkAction | undefined {
  if (status === 'UNCONFIRMED') return sendsMails ? 'RESEND' : 'COPY_LINK';
  return status === 'ACTIVE' ? undefined : 'ACTIVATE_USER';
}

import { expect, test } from 'vitest';
import { actionsFor, needsConfirmation, nextAction, wordsOf } from './user-actions.ts';

const system = { id: 1, role: 'SYSTEM_ADMIN' } as const;
const regional = { id: 2, role: 'REGIONAL_ADMIN' } as const;
const plain = { hasSecondFactor: false, emailConfirmed: false, sendsMails: true };
const withFactor = { ...plain, hasSecondFactor: true };

test('administrators can change other users, but not themselves', () => {
  expect(actionsFor({ id: 9, status: 'UNCONFIRMED', role: 'USER' }, regional, plain)).toEqual([
    'RESEND',
    'CONFIRM_USER_EMAIL',
    'ACTIVATE_USER',
  ]);
  expect(actionsFor({ id: 9, status: 'ACTIVE', role: 'SYSTEM_ADMIN' }, regional, plain)).toEqual([]);
  expect(actionsFor({ id: 1, status: 'ACTIVE', role: 'SYSTEM_ADMIN' }, system, withFactor)).toEqual([]);
  expect(actionsFor({ id: 9, status: 'ACTIVE', role: 'REGIONAL_ADMIN' }, system, plain)).toEqual([
    'RESEND',
    'SEND_LINK',
    'DEACTIVATE_USER',
    'UNSET_USER_REGIONAL_ADMIN',
    'SET_USER_SYSTEM_ADMIN',
  ]);
});

test('an erased account has no actions', () => {
  for (const status of ['ACTIVE', 'UNCONFIRMED', 'DEACTIVATED'] as const) {
    expect(actionsFor({ id: 9, status, role: 'USER', erased: true }, system, withFactor)).toEqual([]);
  }
});

test('without a mail server, a link to copy replaces resending an email', () => {
  const can = { ...plain, sendsMails: false };
  expect(actionsFor({ id: 9, status: 'UNCONFIRMED', role: 'USER' }, regional, can)).toEqual([
    'COPY_LINK',
    'CONFIRM_USER_EMAIL',
    'ACTIVATE_USER',
  ]);
  const active = { id: 9, status: 'ACTIVE', role: 'USER' } as const;
  expect(actionsFor(active, regional, can)).toEqual(['COPY_LINK', 'DEACTIVATE_USER']);
  expect(actionsFor(active, regional, { ...can, emailConfirmed: true })).toEqual(['DEACTIVATE_USER']);
  expect(actionsFor({ ...active, status: 'DEACTIVATED' }, regional, can)).toEqual(['ACTIVATE_USER']);
});

test('an address is confirmed before its account is activated', () => {
  const next = (status: 'UNCONFIRMED' | 'CONFIRMED_EMAIL' | 'ACTIVE', sendsMails: boolean) =>
    nextAction({ status }, { sendsMails });
  expect([next('UNCONFIRMED', true), next('UNCONFIRMED', false)]).toEqual(['RESEND', 'COPY_LINK']);
  expect([next('CONFIRMED_EMAIL', true), next('ACTIVE', true)]).toEqual(['ACTIVATE_USER', undefined]);
});

test('changes of activation, role and second factor need a confirmation', () => {
  const active = { id: 9, status: 'ACTIVE', role: 'USER' } as const;
  expect(actionsFor(active, system, withFactor).filter(action => needsConfirmation(action, active))).toEqual([
    'DEACTIVATE_USER',
    'SET_USER_REGIONAL_ADMIN',
    'SET_USER_SYSTEM_ADMIN',
    'REMOVE_USER_SECOND_FACTOR',
  ]);
});

test('activating a user without a confirmed address needs a confirmation', () => {
  const user = { id: 9, status: 'UNCONFIRMED', role: 'USER' } as const;
  expect(actionsFor(user, regional, plain).filter(action => needsConfirmation(action, user))).toEqual([
    'ACTIVATE_USER',
  ]);
  expect(wordsOf('ACTIVATE_USER', user)).toBe('ACTIVATE_UNCONFIRMED');
  for (const status of ['CONFIRMED_EMAIL', 'DEACTIVATED'] as const) {
    expect([needsConfirmation('ACTIVATE_USER', { status }), wordsOf('ACTIVATE_USER', { status })]).toEqual([
      false,
      'ACTIVATE_USER',
    ]);
  }
});

import { expect, test } from 'vitest';
import { actionsFor, isAsked, nextAction } from './user-actions.ts';

const system = { id: 1, role: 'SYSTEM_ADMIN' } as const;
const regional = { id: 2, role: 'REGIONAL_ADMIN' } as const;
const plain = { hasSecondFactor: false, sendsMails: true };
const withFactor = { ...plain, hasSecondFactor: true };

test('an administrator is offered what changes a user, never anything about themselves', () => {
  expect(actionsFor({ id: 9, status: 'UNCONFIRMED', role: 'USER' }, regional, plain)).toEqual([
    'RESEND',
    'CONFIRM_USER_EMAIL',
    'ACTIVATE_USER',
  ]);
  expect(actionsFor({ id: 9, status: 'ACTIVE', role: 'SYSTEM_ADMIN' }, regional, plain)).toEqual([]);
  expect(actionsFor({ id: 1, status: 'ACTIVE', role: 'SYSTEM_ADMIN' }, system, withFactor)).toEqual([]);
  expect(actionsFor({ id: 9, status: 'ACTIVE', role: 'REGIONAL_ADMIN' }, system, plain)).toEqual([
    'SEND_LINK',
    'DEACTIVATE_USER',
    'UNSET_USER_REGIONAL_ADMIN',
    'SET_USER_SYSTEM_ADMIN',
  ]);
});

test('where no mails are sent, none is offered to be sent again', () => {
  const can = { ...plain, sendsMails: false };
  expect(actionsFor({ id: 9, status: 'UNCONFIRMED', role: 'USER' }, regional, can)).toEqual([
    'CONFIRM_USER_EMAIL',
    'ACTIVATE_USER',
  ]);
  expect(actionsFor({ id: 9, status: 'ACTIVE', role: 'USER' }, regional, can)).toEqual(['DEACTIVATE_USER']);
});

test('an address is confirmed before its account is activated', () => {
  const next = (status: 'UNCONFIRMED' | 'CONFIRMED_EMAIL' | 'ACTIVE', sendsMails: boolean) =>
    nextAction({ status }, { sendsMails });
  expect([next('UNCONFIRMED', true), next('UNCONFIRMED', false)]).toEqual(['RESEND', 'CONFIRM_USER_EMAIL']);
  expect([next('CONFIRMED_EMAIL', true), next('ACTIVE', true)]).toEqual(['ACTIVATE_USER', undefined]);
});

test('a deactivation, a role and a second factor are asked about before they are changed', () => {
  expect(actionsFor({ id: 9, status: 'ACTIVE', role: 'USER' }, system, withFactor).filter(isAsked)).toEqual([
    'DEACTIVATE_USER',
    'SET_USER_REGIONAL_ADMIN',
    'SET_USER_SYSTEM_ADMIN',
    'REMOVE_USER_SECOND_FACTOR',
  ]);
  expect(actionsFor({ id: 9, status: 'UNCONFIRMED', role: 'USER' }, regional, plain).some(isAsked)).toBe(
    false,
  );
});

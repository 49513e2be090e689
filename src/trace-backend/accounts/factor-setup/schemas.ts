import { Type } from 'typebox';
import { Done, envelope, failureAnswers } from '../../contract/envelope.ts';
import { Code, CurrentPassword } from '../users/schemas.ts';

export const FactorState = Type.Object({
  enabled: Type.Boolean({ description: 'whether a login needs a code' }),
  required: Type.Boolean({ description: 'whether the role must have one here (SECOND_FACTOR_REQUIRED)' }),
  recoveryCodes: Type.Integer({ description: 'how many recovery codes are left' }),
});

export const NewFactor = Type.Object({
  secret: Type.String({
    description: 'for typing, in base32',
    examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  }),
  uri: Type.String({ description: 'for the app; what the QR code holds', examples: ['otpauth://totp/…'] }),
  qr: Type.String({ description: 'the QR code as SVG', examples: ['<svg …'] }),
});

export const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String({ examples: ['ABCD-EFGH-IJKL-MNOP'] }), {
    description: 'shown once; each is good once',
  }),
});

export const PasswordProof = Type.Object({ currentPassword: CurrentPassword });
export const CodeProof = Type.Object({ code: Code });
export const BothProofs = Type.Object({ currentPassword: CurrentPassword, code: Code });

const tags = ['User'];

export const getFactorSchema = {
  tags,
  summary: 'Whether the caller`s logins need a second factor',
  response: { 200: envelope(FactorState, 'the second factor'), ...failureAnswers(401) },
};

export const beginFactorSchema = {
  tags,
  summary: 'Set a second factor up',
  description: 'Gives a secret for an authenticator app (TOTP, RFC 6238). It counts once confirmed.',
  body: PasswordProof,
  response: { 200: envelope(NewFactor, 'the secret'), ...failureAnswers(401) },
};

export const confirmFactorSchema = {
  tags,
  summary: 'Confirm a second factor by a code of it',
  description: 'From now on logins need a code. Answers recovery codes, and sets the access cookie anew.',
  body: CodeProof,
  response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
};

export const renewRecoveryCodesSchema = {
  tags,
  summary: 'Get other recovery codes',
  description: 'Those before end.',
  body: BothProofs,
  response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
};

export const removeFactorSchema = {
  tags,
  summary: 'Remove the second factor',
  description: 'Not where the role needs one. The user is told by mail.',
  body: BothProofs,
  response: { 200: Done, ...failureAnswers(401) },
};

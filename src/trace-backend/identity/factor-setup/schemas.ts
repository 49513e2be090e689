import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { Code, CurrentPassword } from '../users/schemas.ts';

const FactorState = Type.Object({
  enabled: Type.Boolean({ description: 'whether a login needs a code' }),
  required: Type.Boolean({ description: 'whether the role requires one (SECOND_FACTOR_REQUIRED)' }),
  recoveryCodes: Type.Integer({ description: 'number of unused recovery codes' }),
});

const NewFactor = Type.Object({
  secret: Type.String({
    description: 'for manual entry, in base32',
    examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  }),
  uri: Type.String({
    description: 'for the app; the content of the QR code',
    examples: ['otpauth://totp/…'],
  }),
  qr: Type.String({ description: 'the QR code as SVG', examples: ['<svg …'] }),
});

const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String({ examples: ['ABCD-EFGH-IJKL-MNOP'] }), {
    description: 'shown only once; each can be used once',
  }),
});

const PasswordProof = Type.Object({ currentPassword: CurrentPassword });
const CodeProof = Type.Object({ code: Code });
const BothProofs = Type.Object({ currentPassword: CurrentPassword, code: Code });

const tags = ['User'];

export const getFactorSchema = {
  operationId: 'getSecondFactor',
  tags,
  summary: 'The state of the second factor of the caller',
  response: { 200: envelope(FactorState, 'the second factor'), ...failureAnswers(401) },
};

export const beginFactorSchema = {
  operationId: 'beginSecondFactor',
  tags,
  summary: 'Begin to set up a second factor',
  description: 'Gives a secret for an authenticator app (TOTP, RFC 6238). It is effective once confirmed.',
  body: PasswordProof,
  response: { 200: envelope(NewFactor, 'the secret'), ...failureAnswers(401) },
};

export const confirmFactorSchema = {
  operationId: 'confirmSecondFactor',
  tags,
  summary: 'Confirm a second factor by one of its codes',
  description:
    'Logins then need a code, and so do a new password, a change of address, and creating and revoking keys for programs. ' +
    'The other sessions of the user and all their keys end. Returns recovery codes, and sets a new access cookie.',
  body: CodeProof,
  response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
};

export const renewRecoveryCodesSchema = {
  operationId: 'renewRecoveryCodes',
  tags,
  summary: 'Get new recovery codes',
  description: 'Earlier ones become invalid.',
  body: BothProofs,
  response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
};

export const removeFactorSchema = {
  operationId: 'removeSecondFactor',
  tags,
  summary: 'Remove the second factor',
  description: 'Not possible if the role requires one. The user gets a mail.',
  body: BothProofs,
  response: { 200: Done, ...failureAnswers(401) },
};

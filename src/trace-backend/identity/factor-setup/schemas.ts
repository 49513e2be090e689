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
    description: 'shown only once; each works once',
  }),
});

const PasswordProof = Type.Object({ currentPassword: CurrentPassword });
const CodeProof = Type.Object({ code: Code });
const BothProofs = Type.Object({ currentPassword: CurrentPassword, code: Code });

const tags = ['User'];

export const getFactorSchema = {
  operationId: 'getSecondFactor',
  tags,
  summary: "Get the state of the caller's second factor",
  response: { 200: envelope(FactorState, 'the second factor'), ...failureAnswers(401) },
};

export const beginFactorSchema = {
  operationId: 'beginSecondFactor',
  tags,
  summary: 'Start to set up a second factor',
  description:
    'Returns a secret for an authenticator app (TOTP, RFC 6238). The second factor takes effect once you confirm ' +
    'it.',
  body: PasswordProof,
  response: { 200: envelope(NewFactor, 'the secret'), ...failureAnswers(401) },
};

export const confirmFactorSchema = {
  operationId: 'confirmSecondFactor',
  tags,
  summary: 'Confirm a second factor with a code',
  description:
    'From then on, logins need a code, and so do setting a new password, changing the email address, and ' +
    "creating and revoking keys for programs. Ends the user's other sessions and all keys. Returns recovery " +
    'codes, and sets a new access cookie.',
  body: CodeProof,
  response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
};

export const renewRecoveryCodesSchema = {
  operationId: 'renewRecoveryCodes',
  tags,
  summary: 'Get new recovery codes',
  description: 'Invalidates the earlier codes.',
  body: BothProofs,
  response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
};

export const removeFactorSchema = {
  operationId: 'removeSecondFactor',
  tags,
  summary: 'Remove the second factor',
  description: 'Not possible if the role requires one. The user is notified by email.',
  body: BothProofs,
  response: { 200: Done, ...failureAnswers(401) },
};

import { Type } from 'typebox';

export const CurrentPassword = Type.String({
  maxLength: 1024,
  description: 'the present password',
  examples: ['correct horse battery staple'],
});

/** A code of an app, or a recovery code; spaces and hyphens do not matter. */
export const Code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'six digits of the app, or a recovery code',
  examples: ['492039'],
});

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

import { Type } from 'typebox';
import { DateTime } from '../../contract/schemas.ts';
import { Code } from '../factor-setup/schemas.ts';

export const Login = Type.Object({
  username: Type.String({ maxLength: 320, description: 'e-mail address', examples: ['ana@example.org'] }),
  password: Type.String({ maxLength: 1024, examples: ['correct horse battery staple'] }),
  code: Type.Optional(Code),
});

/** Any text is taken in a path; what is no UUID names nothing. */
export const SessionId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'id of the session',
  examples: ['0b2d2c52-1b1c-4a53-9c1f-6f3c2d1e0a99'],
});

export const Session = Type.Object({
  id: SessionId,
  startedAt: DateTime,
  lastUsedAt: { ...DateTime, description: 'when it logged in or was refreshed last' },
  expiresAt: { ...DateTime, description: 'when it ends, however often it is refreshed' },
  address: Type.String({ description: 'address it was last used from', examples: ['192.0.2.7'] }),
  userAgent: Type.String({ description: 'program it was last used by', examples: ['Mozilla/5.0'] }),
  secondFactor: Type.Boolean({ description: 'whether the login proved a second factor' }),
  current: Type.Boolean({ description: 'whether this request belongs to it' }),
});

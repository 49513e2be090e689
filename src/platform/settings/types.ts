import { Type } from '../type.ts';

/** A port; 0 is any free one. */
export const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65535, default: fallback, description });

/** An address of another service. */
export const url = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      maxLength: 2048,
      allowed: 'an http:// or https:// URL',
      description,
    }),
  );

/**
 * The names that S3 takes. Source: Amazon S3 User Guide, "General purpose bucket naming rules".
 */
export const BUCKET_RULES =
  'a bucket name has 3 to 63 lower-case letters, digits, hyphens and dots, and begins and ends with a letter or digit';

/** A secret, which no message shows. */
export const secret = (description: string, minLength = 1) =>
  Type.Optional(Type.String({ minLength, maxLength: 8192, description }));

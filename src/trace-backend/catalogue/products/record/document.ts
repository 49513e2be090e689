import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { nullable, text } from '../../../base/contract/shapes.ts';

/** An image or document; everything except the storage key is filled in by the service. */
export const Document = named(
  'Document',
  Type.Object(
    {
      id: nullable(Type.Integer()),
      storageKey: nullable(Type.String({ maxLength: 100, description: 'from POST /api/common/image' })),
      name: text(255),
      contentType: text(255),
      size: nullable(Type.Integer({ description: 'bytes' })),
    },
    { description: 'an uploaded image or document; only storageKey is required' },
  ),
);

import { Type } from '../../../../platform/type.ts';
import { Id } from '../../../base/contract/schemas.ts';
import { nullable, text } from '../../../base/contract/shapes.ts';
import { addressTexts } from '../../companies/record/profile-schemas.ts';

/** The fields of an address, with the names that front ends use. */
export const Address = {
  ...addressTexts,
  otherAddress: text(2000),
  country: nullable(Type.Object({ id: nullable(Id), code: text(2), name: text(255) })),
};

import { Type } from '../../../../platform/type.ts';
import { Id } from '../../../base/contract/schemas.ts';
import { nullable, text } from '../../../base/contract/shapes.ts';

/** The fields of an address, as front ends name them. */
export const Address = {
  address: text(255),
  city: text(255),
  state: text(255),
  zip: text(50),
  cell: text(255),
  sector: text(255),
  village: text(255),
  otherAddress: text(2000),
  hondurasFarm: text(255),
  hondurasVillage: text(255),
  hondurasMunicipality: text(255),
  hondurasDepartment: text(255),
  country: nullable(Type.Object({ id: nullable(Id), code: text(2), name: text(255) })),
};

import type { TSchema } from 'typebox';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { LANGUAGES, LanguageHeader } from '../../base/contract/language.ts';
import { DateTime, Id, listOf, listQuery, PathId } from '../../base/contract/schemas.ts';
import { nullable } from '../../base/contract/shapes.ts';
import { IfMatch } from '../../base/contract/versions.ts';
import { CODE_LISTS, type CodeList } from './lists.ts';
import type { CodeBody } from './merge.ts';
import { SORTABLE } from './store.ts';
import type { ShownCode } from './view.ts';

const tags = ['Code list'];

const LanguageCode = Type.Enum([...LANGUAGES]);

/** A reference to a record by its id; its other fields are ignored. */
export function reference(description: string) {
  return Type.Object({ id: nullable(Id) }, { description });
}

/** The translations of a code in a body. */
function sentTranslations({ translated, fields, title }: CodeList) {
  const texts = Object.fromEntries(translated.map(name => [name, fields[name]?.schema as TSchema]));
  return nullable(
    Type.Array(Type.Object({ language: LanguageCode, ...optionalEach(texts) }), {
      maxItems: LANGUAGES.length,
      description:
        `replaces all translations; translations with only empty texts are ignored. The English ${title} comes from ` +
        'the EN translation, or else from the code',
    }),
  );
}

/** Optional fields; "" clears them, except enumerations, which cannot be cleared. */
function optionalEach(fields: Record<string, TSchema>) {
  const each = Object.entries(fields).map(([name, schema]) => [
    name,
    'enum' in schema ? Type.Optional(schema) : nullable(schema),
  ]);
  return Object.fromEntries(each) as Record<string, TSchema>;
}

function bodyOf(list: CodeList) {
  const schemas = Object.fromEntries(Object.entries(list.fields).map(([name, { schema }]) => [name, schema]));
  const { [list.key ?? '']: key, ...others } = schemas;
  const body = named(
    list.name,
    Type.Object({
      id: nullable({
        ...Id,
        description: 'id of the entry to change; without it, a new one is added',
      } as typeof Id),
      ...(list.key && key && { [list.key]: Type.Optional(key) }),
      ...optionalEach(others),
      ...(list.unit && { [list.unit.field]: nullable(reference('a measure unit type; none without an id')) }),
      ...(list.translated.length > 0 && { translations: sentTranslations(list) }),
    }),
  );
  return Type.Unsafe<CodeBody>(body);
}

const optional = (fields: readonly (readonly [string, TSchema])[]) =>
  Object.fromEntries(fields.map(([name, schema]) => [name, Type.Optional(schema)]));

/** The fields of a code in answers, without its translations and unit. */
function shownFields({ fields }: CodeList) {
  const entries = Object.entries(fields).map(([name, { schema }]) => {
    const { minLength, maxLength, pattern, minimum, maximum, ...rest } = schema as Record<string, unknown>;
    return [name, rest as unknown as TSchema] as const;
  });
  return { id: Type.Integer({ examples: [7] }), ...optional(entries) };
}

const { measureUnitTypes, productTypes } = CODE_LISTS;
const BaseUnit = named(
  'BaseUnit',
  Type.Object(shownFields(measureUnitTypes), { description: 'the underlying unit' }),
);
const Unit = named(
  'BriefMeasureUnitType',
  Type.Object({
    ...shownFields(measureUnitTypes),
    underlyingMeasurementUnitType: Type.Optional(BaseUnit),
  }),
);

/** A code as other records show it. */
export function briefCode(list: CodeList) {
  return Type.Unsafe<ShownCode>(
    named(
      `Brief${list.name}`,
      Type.Object({
        ...shownFields(list),
        ...(list.unit && list !== measureUnitTypes && { [list.unit.field]: Type.Optional(Unit) }),
      }),
    ),
  );
}

/** A code with all its fields. */
export function shownCode(list: CodeList) {
  const texts = list.translated.map(name => [name, Type.String()] as const);
  const translation = {
    language: LanguageCode,
    ...optional(texts),
  };
  return Type.Unsafe<ShownCode>(
    named(
      list.name,
      Type.Object({
        ...shownFields(list),
        ...(list.unit && { [list.unit.field]: Type.Optional(list === measureUnitTypes ? BaseUnit : Unit) }),
        ...(list.translated.length > 0 && { translations: Type.Array(Type.Object(translation)) }),
        ...(list.dated && { creationTimestamp: DateTime, updateTimestamp: DateTime }),
      }),
    ),
  );
}

const Saved = Type.Object({ id: Type.Integer({ examples: [7] }) });
const inLanguage = 'Texts are in the language of the header, or in English if there is no translation.';

/** Generated clients of product types send the id here, and the path without replacing its parameter. */
const idQuery = Type.Object({
  id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'takes precedence over the id in the path',
    }),
  ),
});

/** The schemas of the operations of a code list. */
export function schemasOf(list: CodeList) {
  const { noun, title } = list;
  const save = {
    tags,
    description: `${list.key ? `The ${list.key} is unique. ` : ''}A list has at most 10,000 entries.`,
    headers: IfMatch,
    body: bodyOf(list),
    response: { 200: envelope(Saved, 'its id'), ...failureAnswers(401, 403, 404, 412) },
  };
  const params = Type.Object({ id: PathId });
  const byId = { params, ...(list === productTypes && { querystring: idQuery }) };
  return {
    save,
    list: {
      tags,
      summary: `List ${noun}s`,
      description: `${inLanguage} Sorting by ${title} uses this language.`,
      headers: LanguageHeader,
      querystring: listQuery(SORTABLE, {}),
      response: { 200: envelope(listOf(shownCode(list)), `a page of ${noun}s`), ...failureAnswers(401) },
    },
    get: {
      tags,
      summary: `Get a ${noun}`,
      description: `${inLanguage} The ETag is the version; send it as If-Match with a change.`,
      headers: LanguageHeader,
      ...byId,
      response: { 200: envelope(shownCode(list), `the ${noun}`), ...failureAnswers(401, 404) },
    },
    remove: {
      tags,
      summary: `Delete a ${noun}`,
      description: 'Not possible while other records refer to it.',
      headers: IfMatch,
      ...byId,
      response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
    },
  };
}

import type { Database } from '../../../platform/database/database.ts';
import { LANGUAGES, type Language } from '../../base/contract/language.ts';
import { CODE_LISTS, type CodeList } from './lists.ts';
import { translated } from './merge.ts';
import { type Code, findCodes } from './store.ts';

/** A code in answers; unset fields are absent. */
export type ShownCode = { id: number } & Record<string, unknown>;

/**
 * Codes as in answers, with their texts in a language.
 *
 * @param detailed whether with all translations and the unit that a measure unit type is based on
 */
export async function asCodes(
  database: Database,
  list: CodeList,
  codes: readonly Code[],
  language: Language,
  detailed = true,
): Promise<ShownCode[]> {
  const units = list.unit ? await unitsOf(database, codes, list !== CODE_LISTS.measureUnitTypes) : new Map();
  return codes.map(code => {
    const unit = list.unit && code.unitId !== null ? units.get(code.unitId) : undefined;
    const hasUnit = unit && (detailed || list !== CODE_LISTS.measureUnitTypes);
    return {
      ...ownFieldsOf(list, code, language),
      ...(hasUnit && list.unit && { [list.unit.field]: unit }),
      ...(detailed && list.translated.length > 0 && { translations: translationsOf(code) }),
      ...(detailed &&
        list.dated && {
          creationTimestamp: code.createdAt.toISOString(),
          updateTimestamp: code.updatedAt.toISOString(),
        }),
    };
  });
}

/** The set fields of a code, without its translations and unit. */
function ownFieldsOf(list: CodeList, code: Code, language: Language): ShownCode {
  const fields = Object.keys(list.fields).flatMap(name => {
    const value = list.translated.includes(name as 'label')
      ? translated(code, name, language)
      : code.fields[name];
    return value == null ? [] : [[name, value]];
  });
  return { id: code.id, ...Object.fromEntries(fields) };
}

function translationsOf({ translations }: Code) {
  return LANGUAGES.flatMap(language => {
    const texts = translations[language];
    return texts ? { language, ...texts } : [];
  });
}

/**
 * The measure unit types that codes refer to, by their ids.
 *
 * @param withBase whether with the unit that each is based on
 */
async function unitsOf(
  database: Database,
  codes: readonly Code[],
  withBase: boolean,
): Promise<Map<number, ShownCode>> {
  const list = CODE_LISTS.measureUnitTypes;
  const ids = [...new Set(codes.flatMap(({ unitId }) => unitId ?? []))];
  const units = await findCodes(database, list, ids);
  const bases = withBase ? await unitsOf(database, units, false) : new Map<number, ShownCode>();
  return new Map(
    units.map(unit => {
      const base = unit.unitId === null ? undefined : bases.get(unit.unitId);
      const item = ownFieldsOf(list, unit, 'EN');
      return [unit.id, base ? { ...item, underlyingMeasurementUnitType: base } : item];
    }),
  );
}

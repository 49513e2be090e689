import type { CodeField, CodeList } from './lists.ts';

/** The languages of translations; the fields of a code are its English texts. */
export const TRANSLATIONS = ['DE', 'ES', 'RW'] as const;

type Value = string | number | boolean | null | undefined;

/** The entries of the form of a code. */
export interface CodeForm {
  /** by the names of the fields */
  values: Record<string, Value>;
  /** id of the measure unit type that it refers to; "" for none */
  unit: string;
  /** texts by language and field, such as DE.label */
  texts: Record<string, string>;
}

type Shown = Record<string, unknown> & { translations?: Record<string, string>[] };

/** The form of a code; without one, that of a new one. */
export function formOf(list: CodeList, code: object = {}): CodeForm {
  const shown = code as Shown;
  const unit = list.unit && (shown[list.unit] as { id?: number } | undefined)?.id;
  const texts = TRANSLATIONS.flatMap(language => {
    const found = shown.translations?.find(translation => translation.language === language);
    return list.translated.map(name => [`${language}.${name}`, found?.[name] ?? ''] as const);
  });
  return {
    values: Object.fromEntries(
      list.fields.map(({ name, type }) => [
        name,
        type === 'checkbox' ? shown[name] === true : ((shown[name] as Value) ?? ''),
      ]),
    ),
    unit: unit === undefined ? '' : String(unit),
    texts: Object.fromEntries(texts),
  };
}

/** The name of the field that shows what is at a path of the form, such as DE.label. */
export function fieldAt(path: string): string {
  const [language = '', ...name] = path.split('.');
  const index = (TRANSLATIONS as readonly string[]).indexOf(language);
  return index < 0 ? path : ['translations', index, ...name].join('.');
}

/** The body that a form makes; "" clears a field (null is the same as absent), and translations without a text are none. */
export function bodyOf(list: CodeList, { values, unit, texts }: CodeForm): Record<string, unknown> {
  const translations = TRANSLATIONS.map(language => ({
    language,
    ...Object.fromEntries(
      list.translated
        .map(name => [name, texts[`${language}.${name}`] ?? ''])
        .filter(([, text]) => text !== ''),
    ),
  })).filter(translation => Object.keys(translation).length > 1);
  return {
    ...Object.fromEntries(list.fields.flatMap(field => sentValue(field, values[field.name]))),
    ...(list.unit && { [list.unit]: unit === '' ? '' : { id: Number(unit) } }),
    ...(list.translated.length > 0 && { translations }),
  };
}

/** A choice that was not made is not sent: it cannot be cleared. */
function sentValue({ name, type }: CodeField, value: Value): [string, Value][] {
  const isEmpty = value === '' || value == null;
  if (type === 'select') return isEmpty ? [] : [[name, value]];
  if (type === 'number') return [[name, isEmpty ? '' : Number(value)]];
  return [[name, value ?? '']];
}

import { Problem } from '../../../platform/http/problems.ts';
import { LANGUAGES, type Language } from '../../base/contract/language.ts';
import { idOf } from '../../base/contract/schemas.ts';
import type { CodeList } from './lists.ts';

/** The texts of a code in one language, by the names of the fields; untranslated ones are absent. */
export type Texts = Record<string, string>;
/** The texts of a code by language. */
export type Translations = Partial<Record<Language, Texts>>;

/** The content of a code: its fields, null if unset, and its translations. */
export interface CodeContent {
  fields: Record<string, unknown>;
  /** the measure unit type that it refers to */
  unitId: number | null;
  translations: Translations;
}

/** A code as sent. */
export interface CodeBody {
  id?: number | string | null;
  translations?: readonly SentTexts[] | null;
  [field: string]: unknown;
}
type SentTexts = { language: Language; label?: unknown; name?: unknown; description?: unknown };

/**
 * The content of a code after a change: omitted fields stay unchanged, null clears, and a list of translations replaces
 * the previous one. The English texts come from the English translation if there is one, otherwise from the fields of the
 * code.
 *
 * @param before undefined for a new code
 * @throws Problem invalid if the key or title is missing, or a language has two translations
 */
export function contentAfter(list: CodeList, before: CodeContent | undefined, body: CodeBody): CodeContent {
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(list.fields)) {
    const sent = body[name] === '' && name !== list.title ? null : body[name];
    fields[name] = sent === undefined ? (before?.fields[name] ?? null) : sent;
  }
  if (list.key && fields[list.key] === null) throw new Problem('validation.required', { field: list.key });
  const translations = translationsAfter(list, before?.translations ?? {}, body);
  const { EN: english } = translations;
  if (english) for (const name of list.translated) fields[name] = english[name] ?? null;
  const title = fields[list.title];
  if (typeof title !== 'string' || title.trim() === '')
    throw new Problem('validation.required', { field: list.title });
  return { fields, unitId: unitAfter(list, before, body), translations };
}

function unitAfter({ unit }: CodeList, before: CodeContent | undefined, body: CodeBody): number | null {
  const sent = unit && (body[unit.field] as { id?: number | string | null } | null | undefined);
  if (sent === undefined) return before?.unitId ?? null;
  return sent?.id == null ? null : idOf(sent.id);
}

function translationsAfter(list: CodeList, before: Translations, body: CodeBody): Translations {
  if (list.translated.length === 0) return {};
  const english: Texts = { ...before.EN, ...textsOf(list, body) };
  for (const name of list.translated) if (isBlank(body[name]) && name !== list.title) delete english[name];
  if (body.translations === undefined) return { ...before, EN: english };
  const sent: Translations = {};
  const firstIndexes = new Map<Language, number>();
  for (const [index, each] of (body.translations ?? []).entries()) {
    const { language } = each;
    const first = firstIndexes.get(language);
    if (first !== undefined) {
      throw new Problem('code.language_twice', { field: `translations.${index}.language`, index: first });
    }
    firstIndexes.set(language, index);
    const texts = textsOf(list, each);
    if (Object.keys(texts).length > 0) sent[language] = texts;
  }
  return { ...sent, EN: sent.EN?.[list.title] === undefined ? { ...english, ...sent.EN } : sent.EN };
}

/** The texts that are not blank. */
function textsOf({ translated }: CodeList, sent: object): Texts {
  const texts = sent as Record<string, unknown>;
  return Object.fromEntries(
    translated.flatMap(name =>
      typeof texts[name] === 'string' && texts[name].trim() !== '' ? [[name, texts[name]]] : [],
    ),
  );
}

/** Whether a text was sent to clear it. */
function isBlank(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** The names of the fields that differ. */
export function changedFields(list: CodeList, before: CodeContent, after: CodeContent): string[] {
  const names = Object.keys(list.fields).filter(name => before.fields[name] !== after.fields[name]);
  if (list.unit && before.unitId !== after.unitId) names.push(list.unit.field);
  const differs = LANGUAGES.some(language =>
    list.translated.some(
      name => before.translations[language]?.[name] !== after.translations[language]?.[name],
    ),
  );
  if (differs) names.push('translations');
  return names;
}

/** A text of a code in a language; in English if it has no translation. */
export function translated(
  { fields, translations }: CodeContent,
  name: string,
  language: Language,
): string | undefined {
  return (
    translations[language]?.[name] ?? translations.EN?.[name] ?? (fields[name] as string | null) ?? undefined
  );
}

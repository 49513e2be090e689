import type { NamesOf } from '../../catalogue/companies/record/fields.ts';

/** What has a heading on the page of a label: of the owner, the fields that labels show. */
type Term =
  | 'description'
  | 'origin'
  | 'origin.map'
  | 'journeyMarkers'
  | 'process.production'
  | 'responsibility.laborPolicies'
  | `sustainability.${'production' | 'packaging' | 'co2Footprint'}`
  | `company.${NamesOf<{ label: 'shown' }> | 'certifications'}`
  | 'certification.until'
  | 'documents';

/**
 * Headings of the fields of a label's content on its page, by language, in the words of the console's preview; and what
 * the map of its places is called.
 */
const TERMS: Record<'EN' | 'DE' | 'ES' | 'RW' | 'FR' | 'SW', Record<Term, string>> = {
  EN: {
    description: 'Description',
    origin: 'Origin',
    'origin.map': 'Map of the origin',
    journeyMarkers: 'Journey',
    'process.production': 'Production',
    'responsibility.laborPolicies': 'Labour policies',
    'sustainability.production': 'Sustainability',
    'sustainability.packaging': 'Packaging',
    'sustainability.co2Footprint': 'CO₂ footprint',
    'company.about': 'About the company',
    'company.manager': 'Manager',
    'company.email': 'E-mail',
    'company.phone': 'Phone',
    'company.webPage': 'Web page',
    'company.logo': 'Logo',
    'company.certifications': 'Certifications',
    'certification.until': 'valid until',
    documents: 'Documents',
  },
  DE: {
    description: 'Beschreibung',
    origin: 'Herkunft',
    'origin.map': 'Karte der Herkunft',
    journeyMarkers: 'Reise',
    'process.production': 'Herstellung',
    'responsibility.laborPolicies': 'Arbeitsbedingungen',
    'sustainability.production': 'Nachhaltigkeit',
    'sustainability.packaging': 'Verpackung',
    'sustainability.co2Footprint': 'CO₂-Fußabdruck',
    'company.about': 'Über das Unternehmen',
    'company.manager': 'Leitung',
    'company.email': 'E-Mail',
    'company.phone': 'Telefon',
    'company.webPage': 'Webseite',
    'company.logo': 'Logo',
    'company.certifications': 'Zertifizierungen',
    'certification.until': 'gültig bis',
    documents: 'Dokumente',
  },
  ES: {
    description: 'Descripción',
    origin: 'Origen',
    'origin.map': 'Mapa del origen',
    journeyMarkers: 'Viaje',
    'process.production': 'Producción',
    'responsibility.laborPolicies': 'Políticas laborales',
    'sustainability.production': 'Sostenibilidad',
    'sustainability.packaging': 'Envase',
    'sustainability.co2Footprint': 'Huella de CO₂',
    'company.about': 'Sobre la empresa',
    'company.manager': 'Gerente',
    'company.email': 'Correo',
    'company.phone': 'Teléfono',
    'company.webPage': 'Página web',
    'company.logo': 'Logotipo',
    'company.certifications': 'Certificaciones',
    'certification.until': 'válida hasta',
    documents: 'Documentos',
  },
  RW: {
    description: 'Ibisobanuro',
    origin: 'Inkomoko',
    'origin.map': "Ikarita y'inkomoko",
    journeyMarkers: 'Urugendo',
    'process.production': 'Uko gikorwa',
    'responsibility.laborPolicies': "Amategeko y'umurimo",
    'sustainability.production': 'Kuramba',
    'sustainability.packaging': 'Ibipfunyikwamo',
    'sustainability.co2Footprint': 'Ikirenge cya CO₂',
    'company.about': 'Ibyerekeye ikigo',
    'company.manager': 'Umuyobozi',
    'company.email': 'Imeyili',
    'company.phone': 'Telefone',
    'company.webPage': 'Urubuga',
    'company.logo': 'Ikirango',
    'company.certifications': 'Impamyabushobozi',
    'certification.until': 'irangira ku wa',
    documents: 'Inyandiko',
  },
  FR: {
    description: 'Description',
    origin: 'Origine',
    'origin.map': 'Carte de l’origine',
    journeyMarkers: 'Voyage',
    'process.production': 'Production',
    'responsibility.laborPolicies': 'Politique du travail',
    'sustainability.production': 'Durabilité',
    'sustainability.packaging': 'Emballage',
    'sustainability.co2Footprint': 'Empreinte CO₂',
    'company.about': "À propos de l'entreprise",
    'company.manager': 'Direction',
    'company.email': 'E-mail',
    'company.phone': 'Téléphone',
    'company.webPage': 'Page web',
    'company.logo': 'Logo',
    'company.certifications': 'Certifications',
    'certification.until': 'valable jusqu’au',
    documents: 'Documents',
  },
  SW: {
    description: 'Maelezo',
    origin: 'Asili',
    'origin.map': 'Ramani ya asili',
    journeyMarkers: 'Safari',
    'process.production': 'Uzalishaji',
    'responsibility.laborPolicies': 'Sera za kazi',
    'sustainability.production': 'Uendelevu',
    'sustainability.packaging': 'Ufungashaji',
    'sustainability.co2Footprint': 'Alama ya CO₂',
    'company.about': 'Kuhusu kampuni',
    'company.manager': 'Meneja',
    'company.email': 'Barua pepe',
    'company.phone': 'Simu',
    'company.webPage': 'Tovuti',
    'company.logo': 'Nembo',
    'company.certifications': 'Vyeti',
    'certification.until': 'halali hadi',
    documents: 'Nyaraka',
  },
};

/**
 * The heading of a field of a label's content.
 *
 * @param path of the field, such as process.production
 * @param language of the label; without a translation the heading is English
 * @returns undefined if the page has no heading for the field
 */
export function termOf(path: string, language = 'EN'): string | undefined {
  const all: Partial<Record<string, Partial<Record<string, string>>>> = TERMS;
  return (all[language.split('-')[0]?.toUpperCase() ?? ''] ?? TERMS.EN)[path as Term];
}

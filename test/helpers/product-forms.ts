/*
 * Bodies as the public front end of INATrace sends them: every field of a form, with null for those that are empty,
 * and numbers of text fields as texts.
 */

export const document = (storageKey: string) => ({
  id: 7,
  storageKey,
  name: 'photo.jpg',
  contentType: 'image/jpeg',
  size: 6681,
});

const names = (text: string) => text.split(' ');
const nulls = (text: string) => Object.fromEntries(names(text).map(name => [name, null]));

export const PRICES = names(
  'exchangeRate priceAtEndCustomer costAtBuyer costAtOwner costAtProducer costAtFarmerWithPremium costAtFarmer costAtFarmerAtCompetition',
);

/** The form of a new product of this company, with a photo. */
export const productForm = (company: object, photo: string) => ({
  name: 'Kopanyi Washed',
  description: 'Text 0',
  photo: document(photo),
  process: { production: 'Text 2' },
  responsibility: { laborPolicies: 'Text 3' },
  sustainability: { production: 'Text 4', packaging: null, co2Footprint: null },
  settings: {
    ...nulls('costBreakdown incomeIncreaseDocument incomeIncreaseDescription'),
    language: 'EN',
    ...nulls('gdprText privacyPolicyText termsOfUseText'),
    pricingTransparency: nulls(PRICES.join(' ')),
  },
  company,
  associatedCompanies: [],
  labels: [],
  valueChain: null,
  dataSharingAgreements: [],
  journeyMarkers: [
    { latitude: -1.95, longitude: 30.06 },
    { latitude: '-6.8', longitude: '39.28' },
  ],
  origin: {
    text: 'Text 1',
    locations: [{ latitude: -1.95, longitude: 30.06, pinName: 'Station A', numberOfFarmers: '12' }],
  },
  businessToCustomerSettings: {
    ...nulls('id creationTimestamp updateTimestamp'),
    primaryColor: '#25265E',
    secondaryColor: '#5DBCCF',
    tertiaryColor: '#F7F7F7',
    quaternaryColor: '#25265E',
    productTitleColor: null,
    headingColor: '#000000',
    textColor: '#000000',
    tabFairPrices: true,
    tabProducers: true,
    tabQuality: true,
    tabFeedback: true,
    orderFairPrices: 1,
    orderProducers: 2,
    orderQuality: 3,
    orderFeedback: 4,
    ...nulls('productFont textFont landingPageImage landingPageBackgroundImage headerBackgroundImage'),
    graphicFairPrices: true,
    graphicIncreaseOfIncome: true,
    graphicQuality: true,
    ...nulls('graphicPriceToProducer graphicFarmGatePrice manualFarmGatePrice manualProducerPrice'),
    ...nulls('containerSize worldMarket fairTrade averageRegionFarmGatePrice'),
  },
});

/** The company in forms of products. */
export const companyForm = (id: number) => ({
  id,
  name: 'Kopanyi',
  abbreviation: 'KOP',
  headquarters: {
    address: 'KN 3 Ave',
    city: 'Kigali',
    state: 'Kigali',
    zip: '0000',
    ...nulls('cell sector village otherAddress'),
    ...nulls('hondurasFarm hondurasVillage hondurasMunicipality hondurasDepartment'),
    country: { id: 184, code: 'RW', name: 'Rwanda' },
  },
  about: 'About us',
  ...nulls('manager webPage displayPrefferedWayOfPayment purchaseProofDocumentMultipleFarmers'),
  email: 'info@kopanyi.example',
  phone: '+250700000000',
  mediaLinks: nulls('facebook instagram twitter youtube other'),
  logo: null,
  interview: null,
  documents: [],
  certifications: [],
  valueChains: [],
  currency: null,
  allowBeycoIntegration: null,
});

/** The fields of a label, of which these are visible; the front end always shows journeyMarkers. */
export const labelFields = (visible: readonly string[]) =>
  FIELD_NAMES.map(name => {
    const [section = ''] = name.includes('.') ? name.split('.') : ['product'];
    return { name, section, visible: visible.includes(name) || name === 'journeyMarkers' };
  });

const FIELD_NAMES = [
  ...names('name photo description origin journeyMarkers process.production responsibility.laborPolicies'),
  ...names('sustainability.production sustainability.packaging sustainability.co2Footprint'),
  ...names('settings.language settings.gdprText settings.privacyPolicyText settings.termsOfUseText'),
  ...names('company.name company.logo company.headquarters company.about company.manager company.email'),
  ...names('company.phone company.webPage company.mediaLinks.facebook company.mediaLinks.instagram'),
  ...names('company.mediaLinks.twitter company.mediaLinks.youtube company.mediaLinks.other'),
];

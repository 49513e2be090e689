/**
 * Chat messages as they could be in eight languages: the most frequent words are real ones, the long tail is
 * made from each script's own syllables, and how often a word comes follows Zipf's law. Everything is drawn
 * from a seeded generator, so that two runs search in the same texts.
 */

/** How a language's words are made and combined. */
interface Language {
  /** its most frequent words, the most frequent first */
  frequent: string;
  /** what the rarer words are made of */
  syllables: string;
  /** between two words */
  space: string;
  /** syllables of a rarer word, least and most */
  length: readonly [number, number];
  /** words of a message, least and most */
  words: readonly [number, number];
}

const WORDS_KNOWN = 20_000;

export const languages = {
  english: {
    frequent:
      'the to of and a in is it you that for on are with as i we they be this have from or had by but some what ' +
      'there out other were all your when up use how said each she which do their time if will way about many ' +
      'then them write would like so these her long make thing see him two has look more day could go come did ' +
      'my no most number who over know water than call first people may down side been now find any new work ' +
      'part take get place made field farm leaf leaves rust coffee maize rain plot harvest disease price market ' +
      'morning tomorrow today please photo seed soil fertilizer beans cassava insects damage report visit',
    syllables:
      'ab ac ad al am an ap ar as at ba be bi bo bra bri cal can car cen cha che clo com con cor cra dan den der ' +
      'dis dra ed el en er es fer fi fla for fra gen gra gri hal har her hin ing ion ish ist ive ket lan len ler ' +
      'lin lo man mar men mer min mis mon nal ner ness nor ob or pan par per pla pre pro ran re ris ro san sen ' +
      'ser shi sion sta ster str sur tan ten ter the tion tor tra tri un ur val ver vi wa wer win yel',
    space: ' ',
    length: [2, 4],
    words: [2, 14],
  },
  spanish: {
    frequent:
      'de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin ' +
      'sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque ' +
      'qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo mismo ese ahora cada ' +
      'vida otro después te otros aunque esa día café hoja hojas roya maíz lluvia parcela cosecha enfermedad ' +
      'precio mercado mañana hoy señor niño árbol semilla suelo abono frijol yuca plaga daño informe visita acción',
    syllables:
      'a ba be bi bo ca ce ci có cu da de di do dor es en fa fe fi ga go gua ha he ja je jo la le li llo lo lu ma ' +
      'me mi mo na ne ni ño ñar pa pe pi po pla pre pro que qui ra rá re rí rio ro ru sa se si só ta te ti to tra ' +
      'tre tri tu va ve vi vo xi ya yo za zo ción dad mente ando iendo ado ido ero era ista',
    space: ' ',
    length: [2, 4],
    words: [2, 14],
  },
  swahili: {
    frequent:
      'na ya wa kwa ni katika la za cha kuwa hii hiyo kama lakini au pia baada watu huo yake hicho sana moja mimi ' +
      'wewe yeye sisi nyinyi wao leo kesho jana shamba kahawa mahindi mvua jani majani kutu mavuno ugonjwa bei ' +
      'soko asubuhi jioni tafadhali picha mbegu udongo mbolea maharage muhogo wadudu uharibifu ripoti ziara maji ' +
      'mkulima wakulima ushirika kijiji njia nyumba mtoto watoto kazi siku wiki mwezi mwaka habari asante karibu ' +
      'ndiyo hapana nini nani wapi lini gani kila yote wote hapa pale huku sasa bado tayari tena zaidi kidogo',
    syllables:
      'a ba be bi bo bu cha che chi da di do fa fi fu ga gi go ha hi hu i ja ji jo ka ke ki ko ku kwa la le li lo ' +
      'lu ma mba mbi me mi mo mu mwa na nda ndi ne nga ngo ni nja no nya nyo nza o pa pe pi po ra re ri ro ru sa ' +
      'se sha shi si so su ta te ti to tu u va vi wa we wi ya ye yo za ze zi zo zu',
    space: ' ',
    length: [2, 5],
    words: [2, 14],
  },
  hindi: {
    frequent:
      'के में है की और से का को पर यह कि ने हैं एक भी नहीं हो था कर वह तो ही इस लिए जो या गया थे अपने कुछ साथ बाद उस ' +
      'थी तक हुए जब दो होने रहा अब किया हम आप मैं कल आज सुबह शाम खेत पौधे पत्ती पत्तियों रोग कॉफी मक्का बारिश फसल ' +
      'कटाई बीमारी कीमत बाजार कृपया तस्वीर बीज मिट्टी खाद सेम कसावा कीड़े नुकसान रिपोर्ट पानी किसान गाँव रास्ता घर ' +
      'बच्चे काम दिन सप्ताह महीना साल धन्यवाद नमस्ते क्या कौन कहाँ कब सब यहाँ वहाँ अभी फिर ज्यादा थोड़ा देखो आओ',
    syllables:
      'अ आ इ क का कि की कु के को क्ष ख खा ग गा गी गो घ च चा चि छ ज जा जी ज्ञ झ ट टा टी ठ ड डा ढ ण त ता ति ती तु ते त्र ' +
      'थ द दा दि दी दे ध धा न ना नि नी ने प पा पि पु पे प्र फ ब बा बि बी भ भा म मा मि मी मु मे य या यो र रा रि री रे रो ल ला ' +
      'लि ली ले व वा वि वी श शा शि श्र ष स सा सि सी सु से स्त स्थ ह हा हि ही हे ं न्द',
    space: ' ',
    length: [2, 4],
    words: [2, 14],
  },
  chinese: {
    frequent:
      '的 了 是 我 不 在 人 有 他 这 中 大 来 上 个 到 说 们 为 子 和 你 地 出 会 也 时 要 就 可以 下 得 生 着 自己 那 去 ' +
      '之 过 家 学 对 里 后 小 么 心 多 天 而 能 好 都 然 没 日 于 起 还 发 成 事 只 作 想 看 见 咖啡 叶子 锈病 玉米 下雨 ' +
      '地块 收获 病害 价格 市场 明天 今天 早上 请 照片 种子 土壤 肥料 豆子 木薯 虫子 损失 报告 水 农民 合作社 村 路 房子 ' +
      '孩子 工作 星期 月 年 谢谢 你好 什么 谁 哪里 什么时候 这里 现在 已经 再 一点 非常',
    syllables: '',
    space: '',
    length: [1, 3],
    words: [2, 14],
  },
  thai: {
    frequent:
      'ที่ การ เป็น ใน และ ของ มี ไม่ ได้ ให้ ว่า จะ ไป มา กับ ก็ แต่ หรือ คน นี้ นั้น อยู่ จาก โดย เขา เรา คุณ ผม ฉัน วัน ' +
      'พรุ่งนี้ วันนี้ เช้า เย็น ไร่ สวน กาแฟ ใบ ราสนิม ข้าวโพด ฝน แปลง เก็บเกี่ยว โรค ราคา ตลาด กรุณา รูปถ่าย เมล็ด ดิน ' +
      'ปุ๋ย ถั่ว มันสำปะหลัง แมลง ความเสียหาย รายงาน น้ำ เกษตรกร สหกรณ์ หมู่บ้าน ทาง บ้าน เด็ก งาน สัปดาห์ เดือน ปี ขอบคุณ ' +
      'สวัสดี อะไร ใคร ที่ไหน เมื่อไหร่ ทุก ทั้งหมด ที่นี่ ตอนนี้ แล้ว อีก มาก นิดหน่อย ดู',
    syllables:
      'กา กิน กลาง เก็บ ขา ขึ้น เข้า ความ คา ใคร งาน จา จับ ใจ ชา ชีวิต เชื้อ ดี เดิน ตา ต้น ติด ถา ถึง ทา ทำ เท้า นา นอน ' +
      'บา บอก แบบ ปา ปลา เปิด ผา ผล พา พื้น เพื่อ ฟา ไฟ มา เมือง ยา ยืน รา รัก เรือ ลา ลูก เล็ก วา ไว้ สา สวย เสียง หา หัว ' +
      'ให้ อา อ่าน เอา ฐาน ศึก ษา ญาติ ณะ ภาพ ธรรม',
    space: '',
    length: [1, 3],
    words: [2, 14],
  },
  arabic: {
    frequent:
      'في من على أن إلى عن مع هذا هذه التي الذي كان ما لا هو هي قد كل بعد قبل بين حتى إذا لم لن أو ثم كما عند غير اليوم ' +
      'غدا صباحا مساء مزرعة حقل القهوة أوراق ورقة صدأ الذرة المطر قطعة الحصاد مرض السعر السوق من فضلك صورة بذور التربة ' +
      'سماد الفول حشرات ضرر تقرير زيارة ماء المزارع التعاونية القرية الطريق البيت الأطفال العمل الأسبوع الشهر السنة ' +
      'شكرا مرحبا ماذا أين متى كيف هنا هناك الآن أيضا كثيرا قليلا انظر تعال',
    syllables:
      'ال ا ب با بي بو ت تا تي ث ج جا جي ح حا حي خ خا د دا دي ذ ر را ري رو ز زا س سا سي سو ش شا شي ص صا ض ط طا ظ ع عا عي ' +
      'غ غا ف فا في ق قا قي ك كا كي كو ل لا لي م ما مي مو مست من ن نا ني ه ها و وا وي ي يا ية ات ون ين ان',
    space: ' ',
    length: [2, 4],
    words: [2, 14],
  },
  turkish: {
    frequent:
      'bir ve bu da de için çok ama ne gibi daha o kadar var mı mi ben sen biz siz onlar olan olarak sonra en ya her ' +
      'şey değil yok şimdi bugün yarın sabah akşam tarla kahve yaprak yapraklar pas mısır yağmur hasat hastalık fiyat ' +
      'pazar lütfen fotoğraf tohum toprak gübre fasulye böcek zarar rapor ziyaret su çiftçi kooperatif köy yol ev ' +
      'çocuk iş hafta ay yıl teşekkürler merhaba kim nerede zaman nasıl burada orada hemen tekrar biraz bak gel ' +
      'ısı ılık ışık İstanbul Iğdır ırmak iyi ilaç',
    syllables:
      'a ba bı bi bu ca ce cı ci ça çe çı da de dı di du dü e fa fi ga ge gı gö gü ğa ğı ha he hı i ı İz ka ke kı ki ko ' +
      'ku la le lı li lu lü ma me mı mi mu na ne nı ni o ö pa pı ra re rı ri ru rü sa se sı si su şa şe şı ta te tı ' +
      'ti tu tü u ü va ve vı ya ye yı yo yu za zı lar ler dır dir lık lik',
    space: ' ',
    length: [2, 5],
    words: [2, 14],
  },
} satisfies Record<string, Language>;

export type LanguageName = keyof typeof languages;
export const languageNames = Object.keys(languages) as LanguageName[];

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The words of a language, the most frequent first. */
export function vocabulary(name: LanguageName): string[] {
  const { frequent, syllables, length }: Language = languages[name];
  const random = seeded(7);
  const parts = syllables ? syllables.split(' ') : ideographs();
  const known = new Set(frequent.split(' '));
  while (known.size < WORDS_KNOWN) {
    const count = length[0] + Math.floor(random() * (length[1] - length[0] + 1));
    let word = '';
    // Squared, so that some syllables are far more frequent than others, as in every language.
    for (let n = 0; n < count; n++) word += parts[Math.floor(random() ** 2 * parts.length)];
    known.add(word);
  }
  return [...known];
}

function ideographs(): string[] {
  return Array.from({ length: 3000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7) % 20_000)));
}

/** Writes messages of a language, each call another one. */
export function messageWriter(name: LanguageName, seed: number): () => string {
  const known = vocabulary(name);
  const { space, words }: Language = languages[name];
  const random = seeded(seed);
  const cumulative = new Float64Array(known.length);
  let sum = 0;
  for (let rank = 0; rank < known.length; rank++) {
    sum += 1 / (rank + 2);
    cumulative[rank] = sum;
  }
  return () => {
    const count = words[0] + Math.floor(random() * (words[1] - words[0] + 1));
    const chosen: string[] = [];
    for (let n = 0; n < count; n++) chosen.push(known[rankAt(cumulative, random() * sum)] as string);
    const text = chosen.join(space);
    return random() < 0.02 ? `${text} 👍🏽` : text;
  };
}

function rankAt(cumulative: Float64Array, at: number): number {
  let low = 0;
  let high = cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cumulative[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

using System.Globalization;
using System.Text;

namespace Bookshop.Catalogue;

// The generator combines names, titles and descriptions from lists. Its random numbers start from the row's id. So an id is the same book on every
// machine, and the thousandth book is known without the 999 before it.

/// <summary>Creates authors and books that look like those of a real shop.</summary>
internal sealed class CatalogueGenerator(int authors)
{
    private const int AuthorSeed = 1_000_003;
    private const int BookSeed = 2_000_003;

    private static readonly string[] FirstNames =
    [
        "Ada", "Amina", "Anton", "Beatriz", "Bram", "Carmen", "Chidi", "Clara", "Dario", "Edith", "Elias", "Emeka", "Farah", "Felix", "Greta",
        "Hana", "Henrik", "Imre", "Ines", "Ivo", "Jana", "Jonas", "Kenji", "Leila", "Lucia", "Magnus", "Mara", "Mei", "Miguel", "Nadia",
        "Nils", "Noor", "Olga", "Omar", "Paula", "Petra", "Rafael", "Rosa", "Samir", "Selma", "Sora", "Tariq", "Teresa", "Uma", "Vera",
        "Viktor", "Wanda", "Yara", "Yusuf", "Zofia",
    ];

    private static readonly string[] LastNames =
    [
        "Abara", "Almeida", "Andersen", "Baptiste", "Bergman", "Castell", "Conti", "Dahl", "Delacroix", "Dvorak", "Eriksen", "Falk", "Ferrer",
        "Gallo", "Halloran", "Hartmann", "Horvath", "Ibarra", "Ishikawa", "Janssen", "Kapoor", "Keller", "Kowalski", "Lindqvist", "Lombardi",
        "Marchetti", "Mbeki", "Moreau", "Nakamura", "Novak", "Okafor", "Oliveira", "Petrov", "Quintero", "Rahman", "Ramos", "Rossi",
        "Sandoval", "Schreiber", "Silva", "Sorensen", "Tanaka", "Thorne", "Ueda", "Valdez", "Vasquez", "Weiss", "Whitlock", "Yamada", "Zhang",
    ];

    private static readonly string[] Countries =
    [
        "Argentina", "Brazil", "Canada", "Chile", "Czechia", "Denmark", "Egypt", "Finland", "France", "Germany", "Ghana", "Hungary", "India",
        "Ireland", "Italy", "Japan", "Kenya", "Mexico", "Morocco", "Nigeria", "Norway", "Poland", "Portugal", "Spain", "Sweden",
    ];

    private static readonly string[] Adjectives =
    [
        "Silent", "Hidden", "Last", "Broken", "Distant", "Golden", "Winter", "Forgotten", "Burning", "Quiet", "Crooked", "Endless", "Hollow",
        "Paper", "Salt", "Second", "Blue", "Wandering", "Patient", "Borrowed", "Northern", "Glass", "Unwritten", "Small", "Iron", "Early",
        "Drowned", "Honest", "Secret", "Invisible",
    ];

    private static readonly string[] Nouns =
    [
        "Orchard", "Harbour", "Lighthouse", "Garden", "River", "Library", "Clockmaker", "Cartographer", "Bridge", "Island", "Mountain",
        "Letter", "Summer", "Winter", "Daughter", "Gardener", "Machine", "Market", "Mirror", "Museum", "Notebook", "Ocean", "Orchestra",
        "Painter", "Railway", "Season", "Shepherd", "Stranger", "Theatre", "Translator", "Valley", "Voyage", "Weaver", "Window", "Witness",
    ];

    private static readonly string[] Places =
    [
        "Lisbon", "Trieste", "Kyoto", "Valparaiso", "Tangier", "Bergen", "Ljubljana", "Oaxaca", "Zanzibar", "Galway", "Salzburg", "Cusco",
        "Aleppo", "Havana", "Riga", "Samarkand", "Porto", "Tbilisi", "Accra", "Hobart",
    ];

    private static readonly string[] Openings =
    [
        "When {0} returns to {1} after twenty years, nothing is where it was left.",
        "{0} keeps a record of everything that the sea brings to {1}.",
        "In {1}, a letter arrives that was posted before {0} was born.",
        "No one in {1} remembers who built it, and {0} is determined to find out.",
        "{0} has one summer to sell the house in {1}.",
        "The night train to {1} is late, and {0} is the only passenger who minds.",
    ];

    private static readonly string[] Middles =
    [
        "What begins as a favour becomes a journey through three generations of one family.",
        "Told in letters, ledgers and recipes, it is a book about what people keep.",
        "Between the harbour and the hills lies a story that two countries would rather forget.",
        "A precise and generous novel about work, weather and the debts between friends.",
        "As the season turns, old loyalties are measured against new maps.",
        "With dry humour and great patience the chapters go back, one winter at a time.",
        "It asks what a town owes to those who leave it, and what they owe in return.",
        "Every chapter is an object from a drawer, and every object has more than one owner.",
    ];

    private static readonly string[] Closings =
    [
        "A book to read slowly.", "The first of four.", "With an afterword by the translator.", "Winner of two prizes for fiction.",
        "Now with maps.", "This edition restores the chapters that were cut from the first.",
    ];

    private static readonly string[] Languages = ["en", "en", "en", "en", "de", "fr", "es", "it", "pt", "ja"];

    public static Author Author(int id)
    {
        var random = new Random(AuthorSeed + id);
        var name = $"{Of(FirstNames, random)} {Of(LastNames, random)}";
        var country = Of(Countries, random);
        return new Author
        {
            Id = id,
            Name = name,
            Country = country,
            Born = random.Next(1900, 1999),
            Biography = $"{name} was born in {country}, lived in {Of(Places, random)} and {Of(Places, random)}, and has written since "
                + $"{random.Next(1950, 2020).ToString(CultureInfo.InvariantCulture)}.",
        };
    }

    public Book Book(int id)
    {
        var random = new Random(BookSeed + id);
        return new Book
        {
            Id = id,
            AuthorId = random.Next(authors) + 1,
            Title = Title(random),
            Isbn = Isbn.OfNumber(id),
            Published = new DateOnly(1950, 1, 1).AddDays(random.Next(75 * 365)),
            Pages = random.Next(90, 900),
            Price = random.Next(5, 60) + 0.99m,
            Language = Of(Languages, random),
            Description = Description(random),
        };
    }

    private static string Title(Random random) => random.Next(6) switch
    {
        0 => $"The {Of(Adjectives, random)} {Of(Nouns, random)}",
        1 => $"The {Of(Nouns, random)} of {Of(Places, random)}",
        2 => $"A {Of(Nouns, random)} in {Of(Places, random)}",
        3 => $"{Of(Adjectives, random)} {Of(Nouns, random)}, {Of(Adjectives, random)} {Of(Nouns, random)}",
        4 => $"The {Of(Nouns, random)} and the {Of(Nouns, random)}",
        _ => $"{Of(FirstNames, random)}'s {Of(Adjectives, random)} {Of(Nouns, random)}",
    };

    private static string Description(Random random)
    {
        var text = new StringBuilder()
            .AppendFormat(CultureInfo.InvariantCulture, Of(Openings, random), Of(FirstNames, random), Of(Places, random));
        var first = random.Next(Middles.Length);
        for (var i = random.Next(1, 5); i > 0; i--)
        {
            text.Append(' ').Append(Middles[(first + i) % Middles.Length]);
        }

        return text.Append(' ').Append(Of(Closings, random)).ToString();
    }

    private static string Of(string[] words, Random random) => words[random.Next(words.Length)];
}

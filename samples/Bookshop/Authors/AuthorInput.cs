using System.ComponentModel.DataAnnotations;
using Bookshop.Catalogue;

namespace Bookshop.Authors;

/// <summary>An author in requests of clients.</summary>
public sealed record AuthorInput
{
    [Required, StringLength(200)]
    public string Name { get; set; } = "";

    [Required, StringLength(100)]
    public string Country { get; set; } = "";

    /// <summary>The year of birth.</summary>
    [Range(1, 2100)]
    public int Born { get; set; }

    [StringLength(4_000)]
    public string Biography { get; set; } = "";

    internal Author ToAuthor() => new() { Name = Name, Country = Country, Born = Born, Biography = Biography };

    /// <summary>Copies all properties to <paramref name="author"/>.</summary>
    internal void Apply(Author author)
    {
        author.Name = Name;
        author.Country = Country;
        author.Born = Born;
        author.Biography = Biography;
    }
}

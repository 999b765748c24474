using System.ComponentModel.DataAnnotations;
using Bookshop.Catalogue;

namespace Bookshop.Books;

/// <summary>A book in requests of clients.</summary>
public sealed record BookInput : IValidatableObject
{
    [Range(1, int.MaxValue)]
    public int AuthorId { get; set; }

    [Required, StringLength(200)]
    public string Title { get; set; } = "";

    /// <summary>13 digits without hyphens.</summary>
    [Required]
    public string Isbn { get; set; } = "";

    public DateOnly Published { get; set; }

    [Range(1, 20_000)]
    public int Pages { get; set; }

    [Range(typeof(decimal), "0", "99999.99", ParseLimitsInInvariantCulture = true, ConvertValueInInvariantCulture = true)]
    public decimal Price { get; set; }

    /// <summary>Two letters, a language code of ISO 639-1.</summary>
    [Required, RegularExpression("^[a-z]{2}$")]
    public string Language { get; set; } = "";

    [StringLength(4_000)]
    public string Description { get; set; } = "";

    public IEnumerable<ValidationResult> Validate(ValidationContext validationContext)
    {
        if (!Catalogue.Isbn.IsValid(Isbn))
        {
            yield return new ValidationResult("The field Isbn must have 13 digits, of which the last checks the others.", [nameof(Isbn)]);
        }
    }

    internal Book ToBook() => Apply(new Book { Title = Title, Isbn = Isbn, Language = Language, Description = Description });

    /// <summary>Copies all properties to <paramref name="book"/>.</summary>
    internal Book Apply(Book book)
    {
        book.AuthorId = AuthorId;
        book.Title = Title;
        book.Isbn = Isbn;
        book.Published = Published;
        book.Pages = Pages;
        book.Price = Price;
        book.Language = Language;
        book.Description = Description;
        return book;
    }
}

namespace Bookshop.Catalogue;

/// <summary>A row of the table book.</summary>
internal sealed class Book
{
    public int Id { get; set; }

    public int AuthorId { get; set; }

    public Author? Author { get; set; }

    public required string Title { get; set; }

    public required string Isbn { get; set; }

    public DateOnly Published { get; set; }

    public int Pages { get; set; }

    public decimal Price { get; set; }

    public required string Language { get; set; }

    public required string Description { get; set; }
}

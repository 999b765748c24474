namespace Bookshop.Catalogue;

/// <summary>A row of the table author.</summary>
internal sealed class Author
{
    public int Id { get; set; }

    public required string Name { get; set; }

    public required string Country { get; set; }

    /// <summary>The year of birth.</summary>
    public int Born { get; set; }

    public required string Biography { get; set; }
}

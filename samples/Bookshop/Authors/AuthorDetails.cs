using Bookshop.Catalogue;

namespace Bookshop.Authors;

/// <summary>An author in responses of the API.</summary>
internal sealed record AuthorDetails(int Id, string Name, string Country, int Born, string Biography)
{
    public static AuthorDetails Of(Author author) => new(author.Id, author.Name, author.Country, author.Born, author.Biography);
}

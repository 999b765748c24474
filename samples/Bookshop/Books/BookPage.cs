namespace Bookshop.Books;

/// <summary>Books that were found by title, in the order of their titles.</summary>
/// <param name="HasMore">Whether there are more: skip these to get them.</param>
internal sealed record BookPage(IReadOnlyList<BookSummary> Books, bool HasMore);

/// <summary>A line of a list of books.</summary>
internal sealed record BookSummary(int Id, string Title, decimal Price, BookAuthor Author);

namespace Bookshop.Books;

/// <summary>Books that were found by title, in the order of their titles.</summary>
/// <param name="HasMore">Whether more books match. A client gets them if it skips these.</param>
internal sealed record BookPage(IReadOnlyList<BookSummary> Books, bool HasMore);

/// <summary>A book in a list of books.</summary>
internal sealed record BookSummary(int Id, string Title, decimal Price, BookAuthor Author);

using System.Globalization;

namespace Bookshop.Invalidation;

/// <summary>The tags of cached books. A change removes all books that carry a tag.</summary>
internal static class CacheTags
{
    /// <summary>The tag of everything that came from the database.</summary>
    public const string Everything = "books";

    public static string Book(int id) => string.Create(CultureInfo.InvariantCulture, $"book:{id}");

    /// <summary>Returns the tag of every book that shows the author's name.</summary>
    public static string Author(int id) => string.Create(CultureInfo.InvariantCulture, $"author:{id}");
}

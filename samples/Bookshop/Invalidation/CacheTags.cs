using System.Globalization;

namespace Bookshop.Invalidation;

/// <summary>What cached books are called, and the groups that they can be removed by.</summary>
internal static class CacheTags
{
    /// <summary>On everything that came from the database.</summary>
    public const string Everything = "books";

    public static string Book(int id) => string.Create(CultureInfo.InvariantCulture, $"book:{id}");

    /// <summary>On every book that shows the author's name.</summary>
    public static string Author(int id) => string.Create(CultureInfo.InvariantCulture, $"author:{id}");
}

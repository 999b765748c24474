namespace Cairn.Caching.Local;

// New --Set--> Small --used twice--> Main
//       `--returns--> Main
// Small, Main --evicted, replaced, removed, cleared--> Gone
// New --larger than the whole level--> Gone
internal enum LocalPlace : byte
{
    /// <summary>Not in the first level yet.</summary>
    New,

    Small,

    Main,

    /// <summary>The entry has left the first level, or was never kept. It does not return.</summary>
    Gone,
}

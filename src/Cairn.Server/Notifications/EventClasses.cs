namespace Cairn.Server.Notifications;

/// <summary>The classes of keyspace events that are sent, and their form. Each value corresponds to a letter of Redis.</summary>
[Flags]
internal enum EventClasses
{
    None = 0,

    /// <summary>K: on the channel <c>__keyspace@0__:KEY</c>, with the event as the message.</summary>
    Keyspace = 1,

    /// <summary>E: on the channel <c>__keyevent@0__:EVENT</c>, with the key as the message.</summary>
    Keyevent = 1 << 1,

    /// <summary>g: commands of no type, such as DEL and EXPIRE.</summary>
    Generic = 1 << 2,

    /// <summary>$: commands on strings.</summary>
    Strings = 1 << 3,

    /// <summary>l: Cairn has no events of this class.</summary>
    Lists = 1 << 4,

    /// <summary>s: Cairn has no events of this class.</summary>
    Sets = 1 << 5,

    /// <summary>h: commands on hashes.</summary>
    Hashes = 1 << 6,

    /// <summary>z: Cairn has no events of this class.</summary>
    SortedSets = 1 << 7,

    /// <summary>x: keys that expired.</summary>
    Expired = 1 << 8,

    /// <summary>e: keys that were evicted.</summary>
    Evicted = 1 << 9,

    /// <summary>t: Cairn has no events of this class.</summary>
    Streams = 1 << 10,

    /// <summary>d: Cairn has no events of this class.</summary>
    Modules = 1 << 11,

    /// <summary>m: reads of keys that do not exist.</summary>
    KeyMiss = 1 << 12,

    /// <summary>n: keys that did not exist before.</summary>
    New = 1 << 13,

    /// <summary>A: every class except m and n.</summary>
    All = Generic | Strings | Lists | Sets | Hashes | SortedSets | Expired | Evicted | Streams | Modules,

    /// <summary>The forms. Without at least one of them, no event is sent.</summary>
    Forms = Keyspace | Keyevent,
}

/// <summary>Converts <see cref="EventClasses"/> to and from the letters of <c>CONFIG SET notify-keyspace-events</c>.</summary>
internal static class EventLetters
{
    // In the order in which Redis writes them.
    private static readonly (char Letter, EventClasses Class)[] s_letters =
    [
        ('g', EventClasses.Generic), ('$', EventClasses.Strings), ('l', EventClasses.Lists), ('s', EventClasses.Sets),
        ('h', EventClasses.Hashes), ('z', EventClasses.SortedSets), ('x', EventClasses.Expired), ('e', EventClasses.Evicted),
        ('t', EventClasses.Streams), ('d', EventClasses.Modules), ('n', EventClasses.New),
        ('K', EventClasses.Keyspace), ('E', EventClasses.Keyevent), ('m', EventClasses.KeyMiss),
    ];

    /// <summary>Parses letters. Returns false if a letter has no meaning.</summary>
    public static bool TryParse(string text, out EventClasses classes)
    {
        classes = EventClasses.None;
        foreach (char letter in text)
        {
            EventClasses found = letter == 'A' ? EventClasses.All : Array.Find(s_letters, known => known.Letter == letter).Class;
            if (found == EventClasses.None)
            {
                return false;
            }

            classes |= found;
        }

        return true;
    }

    /// <summary>Returns the shortest text for these classes, in the order of Redis 7.0. With A, it leaves out n.</summary>
    public static string Format(EventClasses classes)
    {
        var text = new StringBuilder();
        bool isAll = (classes & EventClasses.All) == EventClasses.All;
        if (isAll)
        {
            text.Append('A');
        }

        foreach ((char letter, EventClasses named) in s_letters)
        {
            bool isCovered = isAll && (EventClasses.All & named) != 0;
            bool isLeftOut = isAll && named == EventClasses.New;
            if ((classes & named) != 0 && !isCovered && !isLeftOut)
            {
                text.Append(letter);
            }
        }

        return text.ToString();
    }
}

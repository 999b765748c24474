using System.Text;

namespace Cairn.Server.Notifications;

/// <summary>Which keyspace events are sent, and in which form. Each value has the letter that Redis gives it.</summary>
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

    /// <summary>l: no event of Cairn belongs to it.</summary>
    Lists = 1 << 4,

    /// <summary>s: no event of Cairn belongs to it.</summary>
    Sets = 1 << 5,

    /// <summary>h: commands on hashes.</summary>
    Hashes = 1 << 6,

    /// <summary>z: no event of Cairn belongs to it.</summary>
    SortedSets = 1 << 7,

    /// <summary>x: keys that expired.</summary>
    Expired = 1 << 8,

    /// <summary>e: keys that were evicted.</summary>
    Evicted = 1 << 9,

    /// <summary>t: no event of Cairn belongs to it.</summary>
    Streams = 1 << 10,

    /// <summary>d: no event of Cairn belongs to it.</summary>
    Modules = 1 << 11,

    /// <summary>m: reads of keys that do not exist.</summary>
    KeyMiss = 1 << 12,

    /// <summary>n: keys that did not exist before.</summary>
    New = 1 << 13,

    /// <summary>A: every class except m and n.</summary>
    All = Generic | Strings | Lists | Sets | Hashes | SortedSets | Expired | Evicted | Streams | Modules,

    /// <summary>The forms. Without one of them nothing is sent.</summary>
    Forms = Keyspace | Keyevent,
}

/// <summary>The letters of <see cref="EventClasses"/>, as <c>CONFIG SET notify-keyspace-events</c> reads and writes them.</summary>
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

    /// <summary>False if a letter has no meaning.</summary>
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

    /// <summary>The shortest text for these classes, letter by letter as Redis 7.0 writes it: with A it leaves out n.</summary>
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

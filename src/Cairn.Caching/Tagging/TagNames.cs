namespace Cairn.Caching.Tagging;

/// <summary>What tags may be called, and how topics are told from them.</summary>
internal static class TagNames
{
    /// <summary>Means everything.</summary>
    public const string Everything = "*";

    // A tag may be any text, so topics begin with a character that is a noncharacter of Unicode: nobody's tag does.
    private const char TopicMark = '\uFDD0';

    /// <summary>Refuses what no entry may be tagged with by name.</summary>
    /// <exception cref="ArgumentException">The tag is empty or white space, or the one that means everything.</exception>
    public static void Check(string tag)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(tag);
        if (tag == Everything)
        {
            throw new ArgumentException("The tag '*' means everything: entries have it anyway.", nameof(tag));
        }
    }

    public static string OfTopic(string topic)
    {
        ArgumentException.ThrowIfNullOrEmpty(topic);
        return TopicMark + topic;
    }
}

namespace Cairn.Caching.Tagging;

/// <summary>The rules for the names of tags, and their distinction from topics.</summary>
internal static class TagNames
{
    /// <summary>The tag that means all entries.</summary>
    public const string Everything = "*";

    // A tag may be any text. Topics begin with a Unicode noncharacter, with which no real tag begins.
    private const char TopicMark = '\uFDD0';

    /// <summary>Throws if the name cannot be used to tag an entry.</summary>
    /// <param name="tag">The name.</param>
    /// <param name="parameter">The parameter that the exception names.</param>
    /// <exception cref="ArgumentException">The tag is empty or white space, or the one that means all entries.</exception>
    public static void Check(string tag, string parameter)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(tag, parameter);
        if (tag == Everything)
        {
            throw new ArgumentException("The tag '*' means everything: entries have it anyway.", parameter);
        }
    }

    public static string OfTopic(string topic)
    {
        ArgumentException.ThrowIfNullOrEmpty(topic);
        return TopicMark + topic;
    }
}

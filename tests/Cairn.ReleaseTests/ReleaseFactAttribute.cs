namespace Cairn.ReleaseTests;

/// <summary>A fact about files that release/build creates in minutes, such as the tool with its own runtime. It runs only with CAIRN_RELEASE=1.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class ReleaseFactAttribute : FactAttribute
{
    public const string WhySkipped = "takes minutes: only with CAIRN_RELEASE=1";

    public ReleaseFactAttribute()
    {
        if (!Release.IsComplete)
        {
            Skip = WhySkipped;
        }
    }
}

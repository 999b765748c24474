namespace Cairn.ReleaseTests;

/// <summary>A theory with the condition of <see cref="ReleaseFactAttribute"/>.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class ReleaseTheoryAttribute : TheoryAttribute
{
    public ReleaseTheoryAttribute()
    {
        if (!Release.IsComplete)
        {
            Skip = ReleaseFactAttribute.WhySkipped;
        }
    }
}

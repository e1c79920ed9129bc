"""Quizzes that anybody in a group may answer."""
